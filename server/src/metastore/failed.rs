//! What a metastore's refusals and a broken conversation mean to us.

use hive_metastore::{
    ThriftHiveMetastoreAddPartitionException as Add,
    ThriftHiveMetastoreAlterPartitionException as Alter,
    ThriftHiveMetastoreGetPartitionException as GetOne,
    ThriftHiveMetastoreGetPartitionsException as GetAll,
    ThriftHiveMetastoreGetTableException as GetTable,
    ThriftHiveMetastoreGetTableReqException as GetTableReq,
};
use lake::{Error, Kind};
use pilota::FastStr;
use pilota::thrift::ApplicationExceptionKind;
use volo_thrift::ClientError;

/// An exception that the metastore answers with.
pub(super) trait Failed {
    /// Which kind it is for a caller, and what the metastore says.
    fn said(&self) -> (Kind, Option<&FastStr>);
}

impl Failed for GetTable {
    fn said(&self) -> (Kind, Option<&FastStr>) {
        match self {
            Self::O1(e) => (Kind::Unreachable, e.message.as_ref()),
            Self::O2(e) => (Kind::NotFound, e.message.as_ref()),
        }
    }
}

impl Failed for GetTableReq {
    fn said(&self) -> (Kind, Option<&FastStr>) {
        match self {
            Self::O1(e) => (Kind::Unreachable, e.message.as_ref()),
            Self::O2(e) => (Kind::NotFound, e.message.as_ref()),
        }
    }
}

impl Failed for GetOne {
    fn said(&self) -> (Kind, Option<&FastStr>) {
        match self {
            Self::O1(e) => (Kind::Unreachable, e.message.as_ref()),
            Self::O2(e) => (Kind::NotFound, e.message.as_ref()),
        }
    }
}

impl Failed for GetAll {
    fn said(&self) -> (Kind, Option<&FastStr>) {
        match self {
            Self::O1(e) => (Kind::NotFound, e.message.as_ref()),
            Self::O2(e) => (Kind::Unreachable, e.message.as_ref()),
        }
    }
}

impl Failed for Add {
    fn said(&self) -> (Kind, Option<&FastStr>) {
        match self {
            Self::O1(e) => (Kind::Invalid, e.message.as_ref()),
            Self::O2(e) => (Kind::Conflict, e.message.as_ref()),
            Self::O3(e) => (Kind::Unreachable, e.message.as_ref()),
        }
    }
}

impl Failed for Alter {
    fn said(&self) -> (Kind, Option<&FastStr>) {
        match self {
            Self::O1(e) => (Kind::Invalid, e.message.as_ref()),
            Self::O2(e) => (Kind::Unreachable, e.message.as_ref()),
        }
    }
}

/// The metastore answered, and not with what was asked.
pub(super) fn refused(exception: &impl Failed) -> Error {
    let (kind, message) = exception.said();
    let message = message.map_or("it does not say why", |message| message.as_str());
    Error::new(kind, format!("the metastore refuses: {message}"))
}

/// Whether the metastore is of a version that does not have what it was asked for.
pub(super) fn unknown_method(error: &ClientError) -> bool {
    match error {
        ClientError::Application(e) => e.kind() == ApplicationExceptionKind::UNKNOWN_METHOD,
        _ => false,
    }
}

/// The conversation broke.
pub(super) fn failed(error: &ClientError) -> Error {
    let said = error.to_string();
    let said = DUMPS.iter().fold(said.as_str(), |said, dump| {
        said.split_once(dump).map_or(said, |(said, _)| said)
    });
    Error::new(
        Kind::Unreachable,
        format!("the metastore cannot be talked to: {said}"),
    )
}

/// Where the library begins to tell of its own insides.
const DUMPS: [&str; 3] = [", cx: ", ", rpc_info: ", ", rpcinfo: "];
