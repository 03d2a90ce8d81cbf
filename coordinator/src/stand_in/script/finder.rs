//! Finds which task a request belongs to, in one pass over the request however many tasks there are.

use std::collections::HashMap;

use super::TaskScript;
use crate::stand_in::Kind;

/// Bytes at the start of a text by which it is looked up.
const LEAD: usize = 8;
/// Buckets of the first, coarse test.
const BUCKETS: usize = 1 << 16;

/// The texts by which a script's tasks are recognised, indexed by how they begin.
#[derive(Debug)]
pub(in crate::stand_in) struct Finder {
    tasks: Vec<Marks>,
    texts: Texts,
}

/// One task's texts, as indices into [`Texts`].
#[derive(Debug)]
struct Marks {
    question: Option<usize>,
    files: Vec<usize>,
    any: Vec<usize>,
    judge: Vec<usize>,
}

impl Finder {
    pub(in crate::stand_in) fn new(tasks: &[TaskScript]) -> Self {
        let mut texts = Texts::default();
        let mut all = |list: &[String]| list.iter().map(|text| texts.add(text)).collect::<Vec<_>>();
        let tasks = tasks
            .iter()
            .map(|task| Marks {
                question: all(task.question.as_slice()).pop(),
                files: all(&task.files),
                any: all(&task.any),
                judge: all(&task.judge_match),
            })
            .collect();
        Self { tasks, texts }
    }

    /// The task a request of this kind with this text belongs to: the one whose texts are longest, the first of
    /// those.
    pub(in crate::stand_in) fn task_of(&self, kind: Kind, text: &str) -> Option<usize> {
        if self.tasks.is_empty() {
            return None;
        }
        let found = self.texts.within(text);
        let mut best: Option<(usize, usize)> = None;
        for (index, task) in self.tasks.iter().enumerate() {
            if let Some(length) = self.fits(task, kind, &found)
                && best.is_none_or(|(longest, _)| length > longest)
            {
                best = Some((length, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// The length of the texts by which a request belongs to this task. `found` says which texts occur in it.
    fn fits(&self, task: &Marks, kind: Kind, found: &[bool]) -> Option<usize> {
        let length = |text: &usize| self.texts.all[*text].len();
        let longest = |texts: &[usize]| texts.iter().filter(|text| found[**text]).map(length).max();
        let question = task.question.filter(|question| found[*question]);
        let mut fit = longest(&task.any);
        match kind {
            Kind::Agent => {
                let known = task.question.is_some() || !task.files.is_empty();
                if known && question == task.question && task.files.iter().all(|file| found[*file]) {
                    let files: usize = task.files.iter().map(length).sum();
                    fit = fit.max(Some(files + question.as_ref().map_or(0, length)));
                }
            }
            Kind::Variables | Kind::Relation => {
                fit = fit.max(longest(&task.judge)).max(question.as_ref().map(length));
            }
            Kind::SubHypotheses | Kind::Context => fit = fit.max(longest(&task.judge)),
            Kind::Other => {}
        }
        fit
    }
}

/// Texts to be found in other texts, each kept once.
#[derive(Debug, Default)]
struct Texts {
    all: Vec<String>,
    known: HashMap<String, usize>,
    /// Whether a text may begin like this: says no at nearly every place of a request. Empty without texts.
    coarse: Vec<bool>,
    by_lead: HashMap<[u8; LEAD], Vec<usize>>,
    /// Texts shorter than a lead.
    short: Vec<usize>,
}

impl Texts {
    fn add(&mut self, text: &str) -> usize {
        if let Some(index) = self.known.get(text) {
            return *index;
        }
        let index = self.all.len();
        self.all.push(text.to_owned());
        self.known.insert(text.to_owned(), index);
        match text.as_bytes().first_chunk::<LEAD>() {
            None => self.short.push(index),
            Some(lead) => {
                self.coarse.resize(BUCKETS, false);
                self.coarse[bucket(lead)] = true;
                self.by_lead.entry(*lead).or_default().push(index);
            }
        }
        index
    }

    /// For each text, whether it occurs in `text`.
    fn within(&self, text: &str) -> Vec<bool> {
        let mut found = vec![false; self.all.len()];
        for index in &self.short {
            found[*index] = text.contains(&self.all[*index]);
        }
        if self.coarse.is_empty() {
            return found;
        }
        let bytes = text.as_bytes();
        let mut rest = bytes;
        while let Some(lead) = rest.first_chunk::<LEAD>() {
            if self.coarse[bucket(lead)] {
                for index in self.by_lead.get(lead).into_iter().flatten() {
                    found[*index] = found[*index] || rest.starts_with(self.all[*index].as_bytes());
                }
            }
            rest = &rest[1..];
        }
        found
    }
}

fn bucket(lead: &[u8; LEAD]) -> usize {
    // The upper bits of a product with a large odd number depend on every byte.
    (u64::from_le_bytes(*lead).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_are_found_where_they_are(
            texts in prop::collection::vec("[abµ]{1,12}", 0..8),
            text in "[abµ]{0,60}",
        ) {
            let mut index = Texts::default();
            let places: Vec<usize> = texts.iter().map(|text| index.add(text)).collect();
            let found = index.within(&text);
            for (wanted, place) in texts.iter().zip(places) {
                prop_assert_eq!(found[place], text.contains(wanted), "{} in {}", wanted, text);
            }
        }
    }
}
