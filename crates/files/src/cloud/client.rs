//! Makes the clients for stores beyond this machine: [`client`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, HeaderMap, HeaderValue, RetryConfig};
use rustls::crypto::{CryptoProvider, ring};

use super::http::Refusal;
use super::stores::Store;

/// How long a web server may be silent. There is no limit for a whole answer, which may be a large file.
const HTTP_SILENCE_MAX: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 60 });

/// How long a request to a web server is tried again.
const HTTP_RETRY_MAX: Duration = HTTP_SILENCE_MAX.saturating_mul(3);

/// Makes the client for a store's address, with credentials from the environment.
pub(super) fn client(address: &str) -> object_store::Result<Store> {
    provide_crypto();
    let scheme = address.split(':').next().unwrap_or(address);
    Ok(match scheme {
        "s3" | "s3a" => Store::writable(Arc::new(AmazonS3Builder::from_env().with_url(address).build()?)),
        "gs" => Store::writable(Arc::new(GoogleCloudStorageBuilder::from_env().with_url(address).build()?)),
        "az" | "abfs" | "abfss" => {
            Store::writable(Arc::new(MicrosoftAzureBuilder::from_env().with_url(address).build()?))
        }
        _ => Store::read_only(Arc::new(web_client(address).build()?)),
    })
}

/// Gives TLS the implementation of ring, as connections between our own processes have, unless the program chose another.
fn provide_crypto() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have been faster, which is as well.
        let _ = ring::default_provider().install_default();
    }
}

fn web_client(address: &str) -> HttpBuilder {
    // Compressed on the way, a file would be other bytes, of another length.
    let mut headers = HeaderMap::new();
    headers.insert("accept-encoding", HeaderValue::from_static("identity"));
    let options = ClientOptions::new()
        .with_allow_http(true)
        .with_default_headers(headers)
        .with_timeout_disabled()
        .with_read_timeout(HTTP_SILENCE_MAX);
    HttpBuilder::new()
        .with_url(address)
        .with_client_options(options)
        .with_retry(RetryConfig { retry_timeout: HTTP_RETRY_MAX, ..RetryConfig::default() })
        .with_http_connector(CheckedConnector)
}

/// Makes clients that look at what a web server answers, before `object_store` takes it for the file.
#[derive(Debug)]
struct CheckedConnector;

impl HttpConnector for CheckedConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(CheckedService(client)))
    }
}

#[derive(Debug)]
struct CheckedService(HttpClient);

impl HttpService for CheckedService {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let path = request.uri().path().to_owned();
            let answer = self.0.execute(request).await?;
            let coding = answer.headers().get("content-encoding").map(HeaderValue::to_str);
            // A name that is not even text is that of no encoding we know.
            let coding = coding.map(|name| name.unwrap_or("unknown"));
            match Refusal::of(answer.status().as_u16(), coding, &path) {
                // Of this kind, it is not tried again.
                Some(refusal) => Err(HttpError::new(HttpErrorKind::Unknown, refusal)),
                None => Ok(answer),
            }
        })
    }
}
