//! Where a driver can be reached, who may talk to it, and how blocks are fetched.

use std::time::Duration;

use crate::settings::{
    amounts::{ByteUnit, TimeUnit},
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Network and security":
    /// The name or address by which executors reach the driver; found out when unset.
    DRIVER_HOST: Option<String> = "firesteel.driver.host", Kind::Text, Unset, "0.1.0";

    /// The address at which the driver listens, if that is not the one by which it is reached, as behind a bridge that
    /// forwards ports.
    DRIVER_BIND_ADDRESS: Option<String> = "firesteel.driver.bindAddress", Kind::Text, Unset, "0.1.0";

    /// The port on which the driver waits for executors; any free one when 0.
    DRIVER_PORT: u32 = "firesteel.driver.port", Kind::PORT, Is("0"), "0.1.0";

    /// The port on which an executor serves its blocks; any free one when 0.
    BLOCK_MANAGER_PORT: u32 = "firesteel.blockManager.port", Kind::PORT, Is("0"), "0.1.0";

    /// How many ports in a row are tried when one is taken.
    PORT_MAX_RETRIES: u32 = "firesteel.port.maxRetries", Kind::PORT, Is("16"), "0.1.0";

    /// The secret that masters, workers, drivers and clients of a cluster share, of at least 16 characters or as bytes
    /// in hexadecimal behind `hex:`; nothing listens beyond this machine without one.
    AUTHENTICATE_SECRET: Option<String> = "firesteel.authenticate.secret", Kind::Text, Unset, "0.1.0";

    /// The file that holds the secret of the cluster.
    AUTHENTICATE_SECRET_FILE: Option<String> = "firesteel.authenticate.secret.file", Kind::Text, Unset, "0.1.0";

    /// The file with the certificate of this process and those that vouch for it (PEM): with it and
    /// `firesteel.ssl.key` every connection is encrypted.
    SSL_CERTIFICATE: Option<String> = "firesteel.ssl.certificate", Kind::Text, Unset, "0.1.0";

    /// The file with the private key of the certificate (PEM).
    SSL_KEY: Option<String> = "firesteel.ssl.key", Kind::Text, Unset, "0.1.0";

    /// The file with the certificates that are trusted (PEM); the own one when unset.
    SSL_TRUSTED: Option<String> = "firesteel.ssl.trusted", Kind::Text, Unset, "0.1.0";

    /// How large the result of a task may be to travel in its report; a larger one waits on its executor to be fetched.
    TASK_MAX_DIRECT_RESULT_SIZE: u64 = "firesteel.task.maxDirectResultSize",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 0 }, Is("1m"), "0.1.0";

    /// How many bytes of shuffled blocks a reduce task asks for at a time.
    REDUCER_MAX_SIZE_IN_FLIGHT: u64 = "firesteel.reducer.maxSizeInFlight",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 }, Is("48m"), "0.1.0";

    /// How many requests for shuffled blocks a reduce task has on the way; no limit when unset.
    REDUCER_MAX_REQS_IN_FLIGHT: Option<u32> = "firesteel.reducer.maxReqsInFlight", Kind::POSITIVE, Unset, "0.1.0";

    /// How many blocks a reduce task asks of one executor at a time; no limit when unset.
    REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS: Option<u32> =
        "firesteel.reducer.maxBlocksInFlightPerAddress", Kind::POSITIVE, Unset, "0.1.0";

    /// From which size on a fetched block goes to disk instead of memory.
    NETWORK_MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM: u64 = "firesteel.network.maxRemoteBlockSizeFetchToMem",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 1 }, Is("200m"), "0.1.0";

    /// How often a fetch is tried again after its connection broke.
    SHUFFLE_IO_MAX_RETRIES: u32 = "firesteel.shuffle.io.maxRetries", Kind::COUNT, Is("3"), "0.1.0";

    /// How long a fetch waits before it is tried again; twice as long each time.
    SHUFFLE_IO_RETRY_WAIT: Duration = "firesteel.shuffle.io.retryWait",
        Kind::period(TimeUnit::Seconds), Is("1s"), "0.1.0";

    /// How long to wait for the master to say why an executor went away.
    EXECUTOR_LOSS_REASON_WAIT: Duration = "firesteel.executor.lossReason.wait",
        Kind::period(TimeUnit::Millis), Is("5s"), "0.1.0";

    /// How long an application waits for a master to accept it, three times.
    REGISTRATION_TIMEOUT: Duration = "firesteel.registration.timeout",
        Kind::period(TimeUnit::Seconds), Is("20s"), "0.1.0";
}
