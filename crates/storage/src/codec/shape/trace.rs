//! A deserializer of made-up values that writes down what it is asked for: [`At`].

use std::any::type_name;

use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::node::{Goal, Node, NodeId, Tree};
use crate::codec::format::RowError;

/// A type is written down up to so many places.
const NODES_MAX: usize = 20_000;
/// Places lie at most so deep in each other; a type without a name may hold itself.
const DEPTH_MAX: u32 = 200;
/// Small values of a type are made inside of each other at most so deep.
const SMALL_MAX: usize = 8;

/// Values for types that do not take any text, number or byte string.
const TEXTS: [&str; 8] = [
    "",
    "a",
    "1",
    "127.0.0.1",
    "127.0.0.1:1",
    "http://a.b/c",
    "2001-02-03T04:05:06Z",
    "00000000-0000-0000-0000-000000000001",
];
const NUMBERS: [u8; 3] = [1, 0, 100];
const BYTES: [&[u8]; 4] = [&[], &[0; 16], &[0; 32], &[1]];

/// Why a run ended before its value was made.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    /// The type itself stands inside the type. That place is written down and not entered again.
    #[error("the type was seen before")]
    SeenBefore,
    /// The type does not take a made-up value, or asks for what no format has.
    #[error("the type refuses a value")]
    Refused,
    /// The type has too many places.
    #[error("the type is too large")]
    Full,
}

impl de::Error for Stop {
    fn custom<M: std::fmt::Display>(_message: M) -> Self {
        Self::Refused
    }
}

/// One run of a type's `Deserialize`.
pub(super) struct Run<'a> {
    tree: &'a mut Tree,
    /// How many values the leaf at each place has refused.
    tries: &'a [usize],
    /// The leaf that got a value last.
    pub(super) last: Option<NodeId>,
    /// The named types that this place is in.
    named: Vec<Named>,
    /// How many of those are values that only have to be small.
    small: usize,
    /// The places that were part of the value.
    pub(super) visited: Vec<NodeId>,
    pub(super) refused: Option<RowError>,
}

/// A named type that is being made.
struct Named {
    name: &'static str,
    node: NodeId,
    is_small: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(tree: &'a mut Tree, tries: &'a [usize]) -> Self {
        Self { tree, tries, last: None, named: Vec::new(), small: 0, visited: Vec::new(), refused: None }
    }

    /// Whether there is something to be learnt at a place.
    fn wants(&self, node: NodeId) -> bool {
        self.small == 0 && !self.tree.is_complete(node)
    }

    /// Ends the named type that was entered last.
    fn leave(&mut self) {
        let left = self.named.pop();
        self.small -= usize::from(left.is_some_and(|named| named.is_small));
    }
}

/// A place of the type in a run.
pub(super) struct At<'r, 'a> {
    run: &'r mut Run<'a>,
    node: NodeId,
    depth: u32,
}

impl<'r, 'a> At<'r, 'a> {
    /// The type itself.
    pub(super) fn root(run: &'r mut Run<'a>) -> Self {
        Self { run, node: Tree::ROOT, depth: 0 }
    }

    /// Notes a leaf; returns how many values it has refused before.
    fn leaf(&mut self, name: &'static str) -> usize {
        self.run.last = Some(self.node);
        self.run.visited.push(self.node);
        if matches!(self.run.tree.get(self.node), Node::Unseen) {
            self.run.tree.set(self.node, Node::Leaf(name));
        }
        self.run.tries.get(self.node).copied().unwrap_or(0)
    }

    fn number(&mut self, name: &'static str) -> u8 {
        NUMBERS[self.leaf(name) % NUMBERS.len()]
    }

    /// The places below this one, made by `make` if they are not there yet.
    fn below(
        &mut self,
        count: usize,
        known: impl Fn(&Node) -> Option<Vec<NodeId>>,
        make: impl FnOnce(&[NodeId]) -> Node,
    ) -> Result<Vec<NodeId>, Stop> {
        self.run.visited.push(self.node);
        let node = self.run.tree.get(self.node);
        if !matches!(node, Node::Unseen) {
            // Another kind of value than before: what an adjacently tagged enum holds.
            return known(node).filter(|known| known.len() == count).ok_or(Stop::Full);
        }
        if self.run.tree.len() + count > NODES_MAX || self.depth > DEPTH_MAX {
            return Err(Stop::Full);
        }
        let items: Vec<NodeId> = (0..count).map(|_| self.run.tree.add()).collect();
        self.run.tree.set(self.node, make(&items));
        Ok(items)
    }

    /// A place below this one.
    fn inside(&mut self, node: NodeId) -> At<'_, 'a> {
        At { depth: self.depth + 1, run: &mut *self.run, node }
    }

    /// Enters the type `T`. Inside of itself, it is noted and not entered; when the same place comes again and values
    /// are to be made, a small one of what stands above is.
    fn enter<T>(&mut self) -> Result<(), Stop> {
        let name = type_name::<T>();
        let above = self.run.named.iter().rev().position(|named| named.name == name);
        let mut is_small = false;
        if let Some(above) = above {
            let was_noted = matches!(self.run.tree.get(self.node), Node::Again(_));
            if !was_noted {
                self.run.tree.set(self.node, Node::Again(above + 1));
            }
            if !was_noted || self.run.tree.goal() == Goal::Seen {
                return Err(Stop::SeenBefore);
            }
            if self.run.small >= SMALL_MAX {
                return Err(Stop::Full);
            }
            is_small = true;
            self.run.small += 1;
            self.node = self.run.named[self.run.named.len() - 1 - above].node;
        }
        self.run.named.push(Named { name, node: self.node, is_small });
        Ok(())
    }

    fn refuse<T>(self, why: RowError) -> Result<T, Stop> {
        self.run.refused = Some(why);
        Err(Stop::Refused)
    }

    fn fields<'de, V: Visitor<'de>>(self, items: Vec<NodeId>, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_seq(Items { at: self, items: items.into_iter() })
    }

    fn tuple<'de, V: Visitor<'de>>(mut self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        let known = |node: &Node| if let Node::Tuple(items) = node { Some(items.clone()) } else { None };
        let items = self.below(length, known, |items| Node::Tuple(items.to_vec()))?;
        self.fields(items, visitor)
    }

    fn named_fields<'de, V: Visitor<'de>>(
        mut self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let known = |node: &Node| if let Node::Struct(fields) = node { Some(ids(fields)) } else { None };
        let make =
            |items: &[NodeId]| Node::Struct(names.iter().copied().zip(items.iter().copied()).collect());
        let ids = self.below(names.len(), known, make)?;
        let Self { run, node, depth } = self;
        let mut items = Items { at: At { run: &mut *run, node, depth }, items: ids.into_iter() };
        let value = visitor.visit_seq(&mut items)?;
        // Names that serde's `alias` adds stand among those of the fields, and no field is read for them.
        let Items { items: unread, .. } = items;
        for node in unread {
            if matches!(run.tree.get(node), Node::Unseen) {
                run.tree.set(node, Node::NoField);
            }
        }
        Ok(value)
    }
}

fn ids(named: &[(&'static str, NodeId)]) -> Vec<NodeId> {
    named.iter().map(|(_, id)| *id).collect()
}

macro_rules! numbers {
    ($($method:ident => $visit:ident($type:ty);)*) => {$(
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
            let number = self.number(stringify!($type));
            visitor.$visit(<$type>::from(number))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for At<'_, '_> {
    type Error = Stop;

    numbers! {
        deserialize_u16 => visit_u16(u16); deserialize_u32 => visit_u32(u32); deserialize_u64 => visit_u64(u64);
        deserialize_i16 => visit_i16(i16); deserialize_i32 => visit_i32(i32); deserialize_i64 => visit_i64(i64);
        deserialize_u8 => visit_u8(u8); deserialize_u128 => visit_u128(u128); deserialize_i128 => visit_i128(i128);
        deserialize_f32 => visit_f32(f32); deserialize_f64 => visit_f64(f64); deserialize_char => visit_char(char);
    }

    fn deserialize_i8<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let number = self.number("i8");
        visitor.visit_i8(number.cast_signed())
    }

    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let is_first = self.leaf("bool").is_multiple_of(2);
        visitor.visit_bool(is_first)
    }

    fn deserialize_str<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let tries = self.leaf("String");
        visitor.visit_borrowed_str(TEXTS[tries % TEXTS.len()])
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let tries = self.leaf("bytes");
        visitor.visit_borrowed_bytes(BYTES[tries % BYTES.len()])
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("()");
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.enter::<V::Value>()?;
        let Self { run, node, depth } = self;
        let value = visitor.visit_newtype_struct(At { run: &mut *run, node, depth: depth + 1 })?;
        run.leave();
        Ok(value)
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let known = |node: &Node| if let Node::Option(inner) = node { Some(vec![*inner]) } else { None };
        let inner = self.below(1, known, |items| Node::Option(items[0]))?[0];
        if self.run.wants(inner) { visitor.visit_some(self.inside(inner)) } else { visitor.visit_none() }
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let known = |node: &Node| if let Node::Sequence(inner) = node { Some(vec![*inner]) } else { None };
        let mut items = self.below(1, known, |items| Node::Sequence(items[0]))?;
        items.retain(|inner| self.run.wants(*inner));
        self.fields(items, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let known =
            |node: &Node| if let Node::Map(key, value) = node { Some(vec![*key, *value]) } else { None };
        let mut items = self.below(2, known, |items| Node::Map(items[0], items[1]))?;
        if !items.iter().any(|item| self.run.wants(*item)) {
            items.clear();
        }
        visitor.visit_map(Items { at: self, items: items.into_iter() })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        self.tuple(length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.enter::<V::Value>()?;
        let Self { run, node, depth } = self;
        let value = At { run: &mut *run, node, depth }.tuple(length, visitor)?;
        run.leave();
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.enter::<V::Value>()?;
        let Self { run, node, depth } = self;
        let value = At { run: &mut *run, node, depth }.named_fields(fields, visitor)?;
        run.leave();
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.enter::<V::Value>()?;
        let known = |node: &Node| if let Node::Enum(variants) = node { Some(ids(variants)) } else { None };
        let make =
            |items: &[NodeId]| Node::Enum(variants.iter().copied().zip(items.iter().copied()).collect());
        let items = self.below(variants.len(), known, make)?;
        let wanted = items.iter().position(|item| self.run.wants(*item));
        let finite = || items.iter().position(|item| self.run.tree.is_finite(*item));
        let index = wanted.or_else(finite).ok_or(Stop::Full)?;
        let Self { run, depth, .. } = self;
        let variant = At { run: &mut *run, node: items[index], depth: depth + 1 };
        let value = visitor.visit_enum(Variant { at: variant, index: index as u32 })?;
        run.leave();
        Ok(value)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Stop> {
        self.refuse(RowError::NotSelfDescribing)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Stop> {
        self.refuse(RowError::NotNamed)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Stop> {
        self.refuse(RowError::NotNamed)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The elements of a sequence, the entries of a map, or the fields of a tuple.
struct Items<'r, 'a> {
    at: At<'r, 'a>,
    items: std::vec::IntoIter<NodeId>,
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_> {
    type Error = Stop;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Stop> {
        let Some(node) = self.items.next() else { return Ok(None) };
        seed.deserialize(self.at.inside(node)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

impl<'de> de::MapAccess<'de> for Items<'_, '_> {
    type Error = Stop;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Stop> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        de::SeqAccess::next_element_seed(self, seed)?.ok_or(Stop::Refused)
    }
}

/// One variant of an enum.
struct Variant<'r, 'a> {
    at: At<'r, 'a>,
    index: u32,
}

impl<'de, 'r, 'a> de::EnumAccess<'de> for Variant<'r, 'a> {
    type Error = Stop;
    type Variant = At<'r, 'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, At<'r, 'a>), Stop> {
        let index: U32Deserializer<Stop> = self.index.into_deserializer();
        Ok((seed.deserialize(index)?, self.at))
    }
}

impl<'de> de::VariantAccess<'de> for At<'_, '_> {
    type Error = Stop;

    fn unit_variant(mut self) -> Result<(), Stop> {
        self.leaf("()");
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Stop> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        self.tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.named_fields(fields, visitor)
    }
}
