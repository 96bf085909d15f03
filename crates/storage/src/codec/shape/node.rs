//! What was seen of a type so far: [`Tree`].

use std::fmt::Write as _;

/// Where a node stands in its tree.
pub(super) type NodeId = usize;

/// One place of a type.
#[derive(Debug, Default)]
pub(super) enum Node {
    /// Nothing was asked for here yet.
    #[default]
    Unseen,
    /// A number, a text, a unit.
    Leaf(&'static str),
    Option(NodeId),
    Sequence(NodeId),
    Map(NodeId, NodeId),
    Tuple(Vec<NodeId>),
    Struct(Vec<(&'static str, NodeId)>),
    Enum(Vec<(&'static str, NodeId)>),
    /// The same type as the place so many named types above.
    Again(usize),
    /// A second name of a field, for which nothing is read.
    NoField,
}

/// When a place of a type is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// When it was asked for.
    Seen,
    /// When it was part of a whole value.
    Made,
}

/// The places of a type. The first is the type itself.
#[derive(Debug)]
pub(super) struct Tree {
    goal: Goal,
    nodes: Vec<Node>,
    /// Whether each place was part of a whole value.
    is_made: Vec<bool>,
    /// Counts what was learnt: two runs between which it stays are the same.
    changes: usize,
}

impl Tree {
    pub(super) const ROOT: NodeId = 0;

    pub(super) fn new(goal: Goal) -> Self {
        Self { goal, nodes: vec![Node::Unseen], is_made: vec![false], changes: 0 }
    }

    pub(super) fn goal(&self) -> Goal {
        self.goal
    }

    pub(super) fn changes(&self) -> usize {
        self.changes
    }

    pub(super) fn add(&mut self) -> NodeId {
        self.nodes.push(Node::Unseen);
        self.is_made.push(false);
        self.nodes.len() - 1
    }

    /// Notes that a place was part of a whole value.
    pub(super) fn set_made(&mut self, id: NodeId) {
        self.changes += usize::from(!self.is_made[id]);
        self.is_made[id] = true;
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn set(&mut self, id: NodeId, node: Node) {
        self.changes += 1;
        self.nodes[id] = node;
    }

    /// Whether everything below a place is done.
    pub(super) fn is_complete(&self, id: NodeId) -> bool {
        let is_done = self.goal == Goal::Seen || self.is_made[id];
        match self.get(id) {
            Node::Unseen => false,
            Node::Leaf(_) => is_done,
            Node::Again(_) | Node::NoField => true,
            Node::Option(inner) | Node::Sequence(inner) => is_done && self.is_complete(*inner),
            Node::Map(key, value) => is_done && self.is_complete(*key) && self.is_complete(*value),
            Node::Tuple(items) => is_done && items.iter().all(|item| self.is_complete(*item)),
            Node::Struct(fields) | Node::Enum(fields) => {
                is_done && fields.iter().all(|(_, item)| self.is_complete(*item))
            }
        }
    }

    /// Whether a value can be made here without ever coming to the same type again.
    pub(super) fn is_finite(&self, id: NodeId) -> bool {
        match self.get(id) {
            Node::Again(_) => false,
            Node::Unseen
            | Node::Leaf(_)
            | Node::Option(_)
            | Node::Sequence(_)
            | Node::Map(..)
            | Node::NoField => true,
            Node::Tuple(items) => items.iter().all(|item| self.is_finite(*item)),
            Node::Struct(fields) => fields.iter().all(|(_, item)| self.is_finite(*item)),
            Node::Enum(variants) => variants.iter().any(|(_, item)| self.is_finite(*item)),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(Self::ROOT, &mut text);
        text
    }

    fn write(&self, id: NodeId, out: &mut String) {
        match self.get(id) {
            Node::Unseen => out.push('_'),
            Node::NoField => (),
            Node::Leaf(name) => out.push_str(name),
            Node::Again(levels) => {
                // Writing to a string does not fail.
                let _ = write!(out, "^{levels}");
            }
            Node::Option(inner) => self.write_list("Option<", &[*inner], ">", out),
            Node::Sequence(inner) => self.write_list("[", &[*inner], "]", out),
            Node::Map(key, value) => self.write_list("Map<", &[*key, *value], ">", out),
            Node::Tuple(items) => self.write_tuple(items, out),
            Node::Struct(fields) => self.write_named("{", fields, ": ", "}", out),
            Node::Enum(variants) => self.write_named("enum {", variants, " ", "}", out),
        }
    }

    fn write_list(&self, open: &str, items: &[NodeId], close: &str, out: &mut String) {
        out.push_str(open);
        for (index, item) in items.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            self.write(*item, out);
        }
        out.push_str(close);
    }

    /// An array looks like a tuple of as many equal elements.
    fn write_tuple(&self, items: &[NodeId], out: &mut String) {
        let texts: Vec<String> = items.iter().map(|item| self.text_of(*item)).collect();
        match texts.split_first() {
            Some((first, rest)) if rest.len() > 3 && rest.iter().all(|text| text == first) => {
                let _ = write!(out, "[{first}; {}]", texts.len());
            }
            _ => {
                let _ = write!(out, "({})", texts.join(", "));
            }
        }
    }

    fn text_of(&self, id: NodeId) -> String {
        let mut text = String::new();
        self.write(id, &mut text);
        text
    }

    fn write_named(
        &self,
        open: &str,
        items: &[(&'static str, NodeId)],
        between: &str,
        close: &str,
        out: &mut String,
    ) {
        out.push_str(open);
        let fields = items.iter().filter(|(_, item)| !matches!(self.get(*item), Node::NoField));
        for (index, (name, item)) in fields.enumerate() {
            let _ = write!(out, "{}{name}{between}", if index > 0 { ", " } else { "" });
            self.write(*item, out);
        }
        out.push_str(close);
    }
}
