//! The tree of categories (contract of AgentCompass 1.0.1, section 3.3).

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::Value;

use super::{
    fsum::{fsum, mean},
    metric_report::{Breakdown, Counts},
};

/// A hierarchy that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("category_hierarchy: {place}: {message}")]
pub struct Error {
    /// The node's path, `overall/…`.
    pub place: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name; a leaf's name is its category.
    pub name: String,
    /// How its value is made.
    pub rule: Rule,
    /// Its share below a node with [`Rule::Weighted`].
    pub weight: Option<f64>,
    /// Empty for a leaf.
    pub children: Vec<Self>,
}

/// How a node's value is made of its children's. Children without a value take no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is a category.
    Leaf,
    /// Mean.
    Unweighted,
    /// Mean weighted by the children's `weight`.
    Weighted,
    /// Mean weighted by the children's evaluated tasks.
    WeightedByCount,
}

/// Reads `{"overall": node}` with `node = {"aggregation", "children", "weight"}`.
///
/// # Errors
/// The first node that is wrong, by path.
pub fn parse(tree: &Value) -> Result<Node, Error> {
    let fail = |message: &str| Error { place: "overall".to_owned(), message: message.to_owned() };
    let members = tree.as_object().ok_or_else(|| fail("expected an object with the one member `overall`"))?;
    let root = match (members.len(), members.get("overall")) {
        (1, Some(root)) => node("overall", root, None)?,
        _ => return Err(fail("the tree has exactly one root, `overall`")),
    };
    let mut seen = BTreeMap::new();
    unique_leaves(&root, "overall", &mut seen)?;
    Ok(root)
}

/// The default: overall, then the splits, then the categories `<split>:<domain>`, each the mean over its tasks. A
/// category without a split hangs below the root.
#[must_use]
pub fn three_levels<'a>(categories: impl IntoIterator<Item = &'a str>) -> Node {
    let leaf = |name: &str| Node { name: name.to_owned(), rule: Rule::Leaf, weight: None, children: Vec::new() };
    let mut splits: BTreeMap<&str, Vec<Node>> = BTreeMap::new();
    let mut alone = Vec::new();
    let mut categories: Vec<&str> = categories.into_iter().collect();
    categories.sort_unstable();
    categories.dedup();
    for category in categories {
        match category.split_once(':') {
            Some((split, _)) if !split.is_empty() => splits.entry(split).or_default().push(leaf(category)),
            _ => alone.push(leaf(category)),
        }
    }
    let inner =
        |name: &str, children| Node { name: name.to_owned(), rule: Rule::WeightedByCount, weight: None, children };
    let mut children: Vec<Node> = splits.into_iter().map(|(split, leaves)| inner(split, leaves)).collect();
    children.extend(alone);
    inner("overall", children)
}

/// All nodes by path, for one series.
///
/// # Errors
/// A weighted node whose children with a value all weigh 0.
pub fn aggregate(root: &Node, categories: &BTreeMap<String, Breakdown>) -> Result<BTreeMap<String, Breakdown>, Error> {
    let mut nodes = BTreeMap::new();
    reduce(root, &segment(&root.name), categories, &mut nodes)?;
    Ok(nodes)
}

/// The leaves (categories) below each node, by path.
#[must_use]
pub fn leaves(root: &Node) -> IndexMap<String, Vec<String>> {
    fn visit(node: &Node, path: &str, all: &mut IndexMap<String, Vec<String>>) -> Vec<String> {
        all.insert(path.to_owned(), Vec::new());
        let mut below = Vec::new();
        if node.rule == Rule::Leaf {
            below.push(node.name.clone());
        }
        for child in &node.children {
            below.extend(visit(child, &format!("{path}/{}", segment(&child.name)), all));
        }
        all.insert(path.to_owned(), below.clone());
        below
    }
    let mut all = IndexMap::new();
    visit(root, &segment(&root.name), &mut all);
    all
}

/// A name inside a path: `~` becomes `~0`, `/` becomes `~1`, as in JSON Pointers.
#[must_use]
pub fn segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn node(name: &str, value: &Value, parent: Option<&str>) -> Result<Node, Error> {
    let path = parent.map_or_else(|| segment(name), |parent| format!("{parent}/{}", segment(name)));
    let fail = |message: String| Error { place: path.clone(), message };
    if name.is_empty() || name != name.trim() {
        return Err(fail(format!("`{name}` is no name: it is empty or has white space around it")));
    }
    let members = value.as_object().ok_or_else(|| fail(format!("expected an object, found `{value}`")))?;
    if let Some(key) = members.keys().find(|key| !["aggregation", "children", "weight"].contains(&key.as_str())) {
        return Err(fail(format!("unknown member `{key}`; valid: `aggregation`, `children`, `weight`")));
    }
    let rule = match members.get("aggregation").map_or(Some("leaf"), Value::as_str) {
        Some("leaf") => Rule::Leaf,
        Some("unweighted") => Rule::Unweighted,
        Some("weighted") => Rule::Weighted,
        Some("weighted_by_count") => Rule::WeightedByCount,
        _ => {
            return Err(fail(
                "`aggregation` is one of `leaf`, `unweighted`, `weighted`, `weighted_by_count`".to_owned(),
            ));
        }
    };
    let weight = match members.get("weight") {
        None | Some(Value::Null) => None,
        Some(weight) => Some(
            weight
                .as_f64()
                .filter(|weight| weight.is_finite() && *weight >= 0.0)
                .ok_or_else(|| fail(format!("`weight` is a number, 0 or more, not `{weight}`")))?,
        ),
    };
    let given = members.get("children").filter(|children| !children.is_null());
    let children = match (rule, given.and_then(Value::as_object)) {
        (Rule::Leaf, None) if given.is_none() => Vec::new(),
        (Rule::Leaf, Some(children)) if children.is_empty() => Vec::new(),
        (Rule::Leaf, _) => return Err(fail("a leaf has no children; give the node an `aggregation`".to_owned())),
        (_, Some(children)) if !children.is_empty() => {
            children.iter().map(|(child, value)| node(child, value, Some(&path))).collect::<Result<Vec<_>, _>>()?
        }
        _ => return Err(fail("`children` is an object with at least one member".to_owned())),
    };
    if rule == Rule::Weighted
        && let Some(child) = children.iter().find(|child| child.weight.is_none())
    {
        return Err(fail(format!("every child of a `weighted` node has a `weight`; `{}` has none", child.name)));
    }
    Ok(Node { name: name.to_owned(), rule, weight, children })
}

fn unique_leaves(node: &Node, path: &str, seen: &mut BTreeMap<String, String>) -> Result<(), Error> {
    if node.rule == Rule::Leaf
        && let Some(earlier) = seen.insert(node.name.clone(), path.to_owned())
    {
        let message = format!("the category `{}` is already at `{earlier}`", node.name);
        return Err(Error { place: path.to_owned(), message });
    }
    node.children.iter().try_for_each(|child| unique_leaves(child, &format!("{path}/{}", segment(&child.name)), seen))
}

fn reduce(
    node: &Node,
    path: &str,
    categories: &BTreeMap<String, Breakdown>,
    nodes: &mut BTreeMap<String, Breakdown>,
) -> Result<Breakdown, Error> {
    if node.rule == Rule::Leaf {
        let leaf = categories.get(&node.name).cloned().unwrap_or_default();
        nodes.insert(path.to_owned(), leaf.clone());
        return Ok(leaf);
    }
    let mut parts = Vec::with_capacity(node.children.len());
    for child in &node.children {
        parts.push((child, reduce(child, &format!("{path}/{}", segment(&child.name)), categories, nodes)?));
    }
    let valued: Vec<(&Node, &Breakdown, f64)> =
        parts.iter().filter_map(|(child, part)| Some((*child, part, part.value?))).collect();
    let value = match node.rule {
        _ if valued.is_empty() => None,
        Rule::Leaf | Rule::Unweighted => mean(&valued.iter().map(|(_, _, value)| *value).collect::<Vec<_>>()),
        Rule::Weighted => {
            let weights: Vec<f64> = valued.iter().map(|(child, _, _)| child.weight.unwrap_or(0.0)).collect();
            let scale = weights.iter().copied().fold(0.0, f64::max);
            if scale <= 0.0 {
                let message = "no child with a value has a positive weight".to_owned();
                return Err(Error { place: path.to_owned(), message });
            }
            weighted(&valued, &weights.iter().map(|weight| weight / scale).collect::<Vec<_>>())
        }
        Rule::WeightedByCount => {
            weighted(&valued, &valued.iter().map(|(_, part, _)| part.aggregation_weight).collect::<Vec<_>>())
        }
    };
    let result = Breakdown {
        value,
        reference_value: None,
        counts: parts.iter().map(|(_, part)| part.counts).sum(),
        aggregation_weight: fsum(parts.iter().map(|(_, part)| part.aggregation_weight)),
    };
    nodes.insert(path.to_owned(), result.clone());
    Ok(result)
}

/// The order of the operations decides last bits: each value times its share of the total weight, summed exactly.
fn weighted(parts: &[(&Node, &Breakdown, f64)], weights: &[f64]) -> Option<f64> {
    let total = fsum(weights.iter().copied());
    Some(fsum(parts.iter().zip(weights).map(|((_, _, value), weight)| value * (weight / total))))
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |a, b| Self {
            total: a.total + b.total,
            evaluated: a.evaluated + b.evaluated,
            error: a.error + b.error,
            unavailable: a.unavailable + b.unavailable,
            invalidated: a.invalidated + b.invalidated,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn category(value: Option<f64>, evaluated: u64) -> Breakdown {
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        Breakdown {
            value,
            reference_value: None,
            counts: Counts { total: evaluated + u64::from(value.is_none()), evaluated, ..Counts::default() },
            aggregation_weight: evaluated as f64,
        }
    }

    #[test]
    fn the_default_has_three_levels() {
        let root = three_levels(["a:y", "b:x", "a:x", "alone", "a:x"]);
        let paths: Vec<String> = leaves(&root).into_keys().collect();
        assert_eq!(
            paths,
            ["overall", "overall/a", "overall/a/a:x", "overall/a/a:y", "overall/b", "overall/b/b:x", "overall/alone"]
        );
        assert_eq!(leaves(&root)["overall/a"], ["a:x", "a:y"]);
    }

    #[test]
    fn rules_weigh_their_children() {
        let categories = BTreeMap::from([
            ("x".to_owned(), category(Some(1.0), 1)),
            ("y".to_owned(), category(Some(0.5), 3)),
            ("z".to_owned(), category(None, 0)),
        ]);
        let value =
            |tree: Value| aggregate(&parse(&json!({"overall": tree})).unwrap(), &categories).unwrap()["overall"].value;
        let children = json!({"x": {"weight": 1}, "y": {"weight": 4}, "z": {"weight": 9}, "absent": {"weight": 1}});
        assert_eq!(value(json!({"aggregation": "unweighted", "children": children})), Some(0.75));
        assert_eq!(value(json!({"aggregation": "weighted_by_count", "children": children})), Some(0.625));
        // The last bit is AgentCompass's.
        assert_eq!(value(json!({"aggregation": "weighted", "children": children})), Some(0.600_000_000_000_000_1));
        assert_eq!(value(json!({"aggregation": "unweighted", "children": {"z": {}}})), None);
        let zero = parse(&json!({"overall": {"aggregation": "weighted", "children": {"x": {"weight": 0}}}})).unwrap();
        assert!(aggregate(&zero, &categories).unwrap_err().to_string().contains("positive weight"));
    }

    #[test]
    fn wrong_trees_are_named_by_path() {
        let message = |tree: Value| parse(&tree).unwrap_err().to_string();
        for (tree, expected) in [
            (json!([]), "one member `overall`"),
            (json!({"a": {}}), "exactly one root"),
            (json!({"overall": {"aggregation": "median"}}), "overall: `aggregation` is one of"),
            (json!({"overall": {"aggregation": "weighted", "children": {"x": {}}}}), "`x` has none"),
            (json!({"overall": {"aggregation": "unweighted"}}), "at least one member"),
            (json!({"overall": {"children": {"x": {}}}}), "a leaf has no children"),
            (json!({"overall": {"weigth": 1}}), "unknown member `weigth`"),
            (
                json!({"overall": {"aggregation": "unweighted", "children": {"a/b": {"weight": -1}}}}),
                "overall/a~1b: `weight`",
            ),
            (
                json!({"overall": {"aggregation": "unweighted", "children":
                    {"p": {"aggregation": "unweighted", "children": {"x": {}}}, "x": {}}}}),
                "overall/x: the category `x` is already at `overall/p/x`",
            ),
        ] {
            let message = message(tree);
            assert!(message.contains(expected), "{message}");
        }
    }
}
