//! The answer file, which the agent's code may have replaced by anything.

use std::{
    fs::File,
    io::Read as _,
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags},
    io::Errno,
};

const NAME: &str = "answer.txt";
/// The most bytes of an answer.
const MOST: u64 = 1 << 20;

/// Reads the file. No link is followed out of the workspace, no pipe or device is waited for.
pub(super) fn read(workspace: &Path) -> Result<Option<String>, String> {
    let file = match open(workspace) {
        Ok(file) => file,
        Err(Errno::NOENT) if !is_there(workspace) => return Ok(None),
        Err(Errno::NOENT) => return Err("it is a symbolic link to nothing".to_owned()),
        Err(Errno::XDEV | Errno::LOOP) => {
            return Err("it is a symbolic link that leads out of the workspace".to_owned());
        }
        Err(Errno::NXIO) => return Err("it is not a regular file".to_owned()), // a socket
        Err(error) => return Err(error.to_string()),
    };
    let about = file.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST {
        return Err(format!("it has {} bytes, an answer has {MOST} at most", about.len()));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn open(workspace: &Path) -> Result<File, Errno> {
    let folder = rustix::fs::open(workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&folder, NAME, flags, Mode::empty(), inside) {
        // A kernel before 5.6, or a filter that does not know the call: then no link is followed at all.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::openat(&folder, NAME, flags | OFlags::NOFOLLOW, Mode::empty()).map(File::from)
        }
        opened => opened.map(File::from),
    }
}

fn is_there(workspace: &Path) -> bool {
    let path = workspace.join(Component::Normal(NAME.as_ref()));
    rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    fn why(workspace: &Path) -> String {
        read(workspace).unwrap_err()
    }

    #[test]
    fn only_a_regular_file_of_bearable_size_inside_the_workspace_counts() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        let path = workspace.join(NAME);
        assert_eq!(read(workspace), Ok(None));

        std::fs::write(&path, b"caf\xe9").unwrap();
        assert_eq!(read(workspace), Ok(Some("caf\u{fffd}".to_owned())));

        std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(read(workspace).unwrap().unwrap().len(), 1 << 20);
        std::fs::write(&path, vec![b'x'; (1 << 20) + 1]).unwrap();
        assert!(why(workspace).contains("1048577 bytes"));

        std::fs::remove_file(&path).unwrap();
        symlink("/etc/passwd", &path).unwrap();
        assert!(why(workspace).contains("leads out of the workspace"));

        std::fs::remove_file(&path).unwrap();
        symlink("../../../etc/passwd", &path).unwrap();
        assert!(why(workspace).contains("leads out of the workspace"));

        std::fs::remove_file(&path).unwrap();
        symlink(NAME, &path).unwrap();
        assert!(why(workspace).contains("symbolic link"));

        std::fs::remove_file(&path).unwrap();
        symlink("inside.txt", &path).unwrap();
        assert!(why(workspace).contains("link to nothing"));
        std::fs::write(workspace.join("inside.txt"), "inside").unwrap();
        assert_eq!(read(workspace), Ok(Some("inside".to_owned())));

        std::fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(why(workspace), "it is not a regular file");

        std::fs::remove_file(&path).unwrap();
        let _socket = UnixListener::bind(&path).unwrap();
        assert_eq!(why(workspace), "it is not a regular file");

        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(why(workspace), "it is not a regular file");
    }
}
