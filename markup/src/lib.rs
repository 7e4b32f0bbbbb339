//! `view!`, with the syntax of Leptos's macro of that name, for `app::markup`.
//!
//! Leptos makes a type of each view, and code for each type: five hundred bytes of WebAssembly for
//! an element. Here an element is a value, filled by calls of a few functions, and costs some
//! thirty bytes: the page is half as large.

mod element;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use rstml::node::{Node, NodeBlock};
use rstml::{Parser, ParserConfig};
use syn::{Block, Ident, Stmt};

/// Makes a `Markup` of HTML: elements, components, `"text"` and `{expressions}`.
///
/// Attributes are `name=value`, `on:event=handler`, `prop:name=value`, `class:name=condition` and
/// `node_ref=reference`. A closure as a value or a child is run again when a signal it read has
/// changed.
#[proc_macro]
pub fn view(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let parser = Parser::new(ParserConfig::default());
    let made = match parser.parse_recoverable(tokens).into_result() {
        Ok(nodes) => of_nodes(&nodes, Space::Html),
        Err(error) => Err(error),
    };
    match made {
        Ok(tokens) => tokens.into(),
        Err(error) => {
            let error = error.into_compile_error();
            quote!({ #error }).into()
        }
    }
}

/// What an element's name means: `title` is another element inside of `svg`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Html,
    Svg,
}

/// One `Markup` of all the nodes.
fn of_nodes(nodes: &[Node], space: Space) -> syn::Result<TokenStream> {
    let shown: Vec<&Node> = nodes.iter().filter(|n| is_shown(n)).collect();
    match shown.as_slice() {
        [] => Ok(quote!(crate::markup::Markup::Nothing)),
        [one] => of_node(one, space),
        several => {
            let several = several.iter().map(|node| of_node(node, space));
            let several = several.collect::<syn::Result<Vec<_>>>()?;
            Ok(quote!(crate::markup::Markup::Many(
                ::std::vec![#(#several),*]
            )))
        }
    }
}

/// A `Markup` of one node.
fn of_node(node: &Node, space: Space) -> syn::Result<TokenStream> {
    Ok(match node {
        Node::Element(element) => element::of_element(element, space)?,
        Node::Text(text) => {
            let text = &text.value;
            quote!(crate::markup::text(#text))
        }
        Node::Block(NodeBlock::ValidBlock(block)) => {
            let inside = without_braces(block);
            quote!(crate::markup::IntoMarkup::into_markup(#inside))
        }
        Node::Fragment(fragment) => of_nodes(&fragment.children, space)?,
        other => {
            return Err(syn::Error::new_spanned(
                other,
                "expected an element, \"text\" or {an expression}",
            ));
        }
    })
}

fn is_shown(node: &Node) -> bool {
    !matches!(node, Node::Comment(_) | Node::Doctype(_))
}

/// What one expression in braces stands for; the compiler warns of braces around an argument.
fn without_braces(block: &Block) -> TokenStream {
    match block.stmts.as_slice() {
        [Stmt::Expr(expression, None)] => quote!(#expression),
        _ => quote!(#block),
    }
}

/// A name that nothing in the caller's code can mean.
fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
