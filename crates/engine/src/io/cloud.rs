//! Makes the clients for stores beyond this machine: [`client`].
//!
//! Only in a build with the feature `cloud`.

use std::sync::Arc;
use std::time::Duration;

use object_store::ClientOptions;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;

use super::stores::Store;

/// How long a web server may be silent. There is no limit for a whole answer, which may be a large file.
const HTTP_SILENCE_MAX: Duration = Duration::from_secs(60);

/// Makes the client for a store's address, with credentials from the environment.
pub(crate) fn client(address: &str) -> object_store::Result<Store> {
    let scheme = address.split(':').next().unwrap_or(address);
    Ok(match scheme {
        "s3" | "s3a" => Store::writable(Arc::new(AmazonS3Builder::from_env().with_url(address).build()?)),
        "gs" => Store::writable(Arc::new(GoogleCloudStorageBuilder::from_env().with_url(address).build()?)),
        "az" | "abfs" | "abfss" => {
            Store::writable(Arc::new(MicrosoftAzureBuilder::from_env().with_url(address).build()?))
        }
        _ => {
            let options = ClientOptions::new()
                .with_allow_http(true)
                .with_timeout_disabled()
                .with_read_timeout(HTTP_SILENCE_MAX);
            let http = HttpBuilder::new().with_url(address).with_client_options(options).build()?;
            Store::read_only(Arc::new(http))
        }
    })
}
