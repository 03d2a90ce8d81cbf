//! A small piece of work for each of many files, on all cores.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// More would only wait for the disk.
const MAX_THREADS: usize = 8;

/// `work` on every item. The results keep the order of the items, and of several errors the one of the first item is
/// returned, so the outcome does not depend on chance.
pub(super) fn map<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(usize::MAX);
    let done: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(items.len()));
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(items.len().max(1));
    let take_all = || {
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // Items before a failed one must still be done: one of them may fail too, and would be the first.
            if index >= items.len() || index > failed.load(Ordering::Relaxed) {
                break;
            }
            let result = work(&items[index]);
            if result.is_err() {
                failed.fetch_min(index, Ordering::Relaxed);
            }
            mine.push((index, result));
        }
        done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(mine);
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take_all);
        }
        take_all();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map(&items, |item| Ok::<_, ()>(item * 2)).unwrap(), (0..2000).step_by(2).collect::<Vec<_>>());
        assert!(map(&[], |item: &usize| Ok::<_, ()>(*item)).unwrap().is_empty());
    }

    #[test]
    fn the_first_error_wins() {
        let items: Vec<usize> = (0..1000).collect();
        for _ in 0..50 {
            let failed = map(&items, |item| if item % 100 == 99 { Err(*item) } else { Ok(()) });
            assert_eq!(failed, Err(99));
        }
    }
}
