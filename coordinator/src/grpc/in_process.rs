//! The whole fleet in one process: the same services over in-memory pipes instead of sockets, so that no port is open
//! that another user of the machine could connect to.

use std::io;

use argosy_proto::v1::fleet_service_server::FleetServiceServer;
use argosy_shared::supervise::{self, CancellationToken, Task};
use hyper_util::rt::TokioIo;
use tokio::{io::DuplexStream, sync::mpsc};
use tokio_stream::{StreamExt as _, wrappers::UnboundedReceiverStream};
use tonic::transport::{Channel, Endpoint, Server, Uri};

use super::Fleet;

/// Bytes a pipe holds before the writer waits.
const PIPE_BYTES: usize = 256 * 1024;

/// Serves `fleet` to callers in this process until `stop` is cancelled, and gives a channel to it.
///
/// # Errors
/// The channel cannot be described (never, in practice).
pub fn serve_in_process(fleet: Fleet, stop: CancellationToken) -> io::Result<(Channel, Task<()>)> {
    let (connect, accept) = mpsc::unbounded_channel::<DuplexStream>();
    let incoming = UnboundedReceiverStream::new(accept).map(Ok::<_, io::Error>);
    let service = FleetServiceServer::new(fleet);
    let serving = supervise::spawn("grpc in process", async move {
        let served =
            Server::builder().add_service(service).serve_with_incoming_shutdown(incoming, stop.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::error!(%error, "the in-process server ended");
        }
    });
    let connector = tower::service_fn(move |_: Uri| {
        let connect = connect.clone();
        async move {
            let (client, server) = tokio::io::duplex(PIPE_BYTES);
            connect.send(server).map_err(|_| io::Error::other("the coordinator has stopped"))?;
            Ok::<_, io::Error>(TokioIo::new(client))
        }
    });
    let endpoint = Endpoint::try_from("http://in-process").map_err(io::Error::other)?;
    Ok((endpoint.connect_with_connector_lazy(connector), serving))
}
