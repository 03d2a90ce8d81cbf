//! Takes away a tree that hostile code has had its way with.
//!
//! Folders may have lost their permissions and may be nested deeper than a path can say. So nothing is removed in depth:
//! every folder found inside another is first moved up beside it. Links are removed, never followed.

use std::{
    collections::VecDeque,
    ffi::CString,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

/// Rounds before giving up on a folder that something keeps filling.
const ROUNDS: usize = 100;

/// Removes a folder and everything in it. One that is not there is gone already.
pub(super) fn tree(path: &Path) -> rustix::io::Result<()> {
    let top = match open(rustix::fs::CWD, path) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    // Folders that have been moved up, by their names in `top`.
    let mut waiting: VecDeque<CString> = VecDeque::new();
    let mut count = 0_u64;
    for _ in 0..ROUNDS {
        // The first time everything in `top` itself; a folder stays where it is and waits for its turn.
        for (name, is_folder) in entries(&top)? {
            if is_folder { waiting.push_back(name) } else { unlink(&top, &name)? }
        }
        while let Some(name) = waiting.pop_front() {
            let folder = match open(&top, name.as_c_str()) {
                Err(Errno::NOENT) => continue,
                opened => opened?,
            };
            for (inner, is_folder) in entries(&folder)? {
                if !is_folder {
                    unlink(&folder, &inner)?;
                    continue;
                }
                let moved = CString::new(format!(".moved-up-{count}")).expect("no NUL");
                count += 1;
                // Moving a folder to another parent writes to itself.
                rustix::fs::chmodat(&folder, &inner, Mode::RWXU, AtFlags::empty())?;
                rustix::fs::renameat(&folder, &inner, &top, &moved)?;
                waiting.push_back(moved);
            }
            match rustix::fs::unlinkat(&top, &name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) => break, // once more from the start
                Err(error) => return Err(error),
            }
        }
        match rustix::fs::unlinkat(rustix::fs::CWD, path, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => waiting.clear(),
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Err(Errno::NOTEMPTY)
}

/// Opens a folder, after giving its permissions back where they are missing.
fn open<P: rustix::path::Arg + Copy>(parent: impl AsFd, name: P) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match rustix::fs::openat(&parent, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(&parent, name, Mode::RWXU, AtFlags::empty())?;
            rustix::fs::openat(&parent, name, flags, Mode::empty())?
        }
        opened => opened?,
    };
    rustix::fs::fchmod(&folder, Mode::RWXU)?;
    Ok(folder)
}

/// The names in a folder, and which of them are folders.
fn entries(folder: &OwnedFd) -> rustix::io::Result<Vec<(CString, bool)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let is_folder = match entry.file_type() {
            FileType::Directory => true,
            // Some file systems do not say.
            FileType::Unknown => {
                let about = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(about.st_mode) == FileType::Directory
            }
            _ => false,
        };
        found.push((name.to_owned(), is_folder));
    }
    Ok(found)
}

fn unlink(folder: &OwnedFd, name: &CString) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_folder_without_permissions() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().join("top");
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        fs::write(top.join("a/b/c/file"), "").unwrap();
        fs::write(top.join("a/file"), "").unwrap();
        for folder in ["a/b/c", "a/b", "a", ""] {
            fs::set_permissions(top.join(folder), fs::Permissions::from_mode(0o000)).unwrap();
        }
        tree(&top).unwrap();
        assert!(!top.exists());
        tree(&top).unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (top, outside) = (root.path().join("top"), root.path().join("outside"));
        fs::create_dir_all(top.join("inner")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "").unwrap();
        symlink(&outside, top.join("link")).unwrap();
        symlink(&outside, top.join("inner/link")).unwrap();
        symlink("nowhere", top.join("inner/dangling")).unwrap();
        tree(&top).unwrap();
        assert!(!top.exists() && outside.join("precious").exists());
        let link = root.path().join("link itself");
        symlink(&outside, &link).unwrap();
        assert!(tree(&link).is_err());
        assert!(outside.join("precious").exists());
    }

    #[test]
    fn deeper_than_a_path_can_say() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().join("top");
        fs::create_dir(&top).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = rustix::fs::open(&top, flags, Mode::empty()).unwrap();
        let name = "x".repeat(200);
        for _ in 0..3000 {
            rustix::fs::mkdirat(&folder, &name, Mode::RWXU).unwrap();
            folder = rustix::fs::openat(&folder, &name, flags, Mode::empty()).unwrap();
        }
        drop(folder);
        tree(&top).unwrap();
        assert!(!top.exists());
    }
}
