//! Elements and components.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use rstml::node::{KeyedAttribute, Node, NodeAttribute, NodeElement, NodeName};
use syn::spanned::Spanned;
use syn::{Expr, ExprBlock, ExprLit, Lit};

use crate::{Space, hidden, is_shown, of_node, of_nodes, without_braces};

type Element = NodeElement<rstml::Infallible>;

/// Names that are elements of SVG wherever they stand.
const SVG: &[&str] = &[
    "svg", "g", "path", "rect", "line", "circle", "text", "polyline", "polygon", "ellipse", "defs",
    "pattern",
];

/// A `Markup` of an element, or of what a component returns.
pub(crate) fn of_element(element: &Element, space: Space) -> syn::Result<TokenStream> {
    if is_component(element) {
        return component(element);
    }
    let made = boxed(element, space)?;
    Ok(quote!(crate::markup::Markup::Element(#made)))
}

fn is_component(element: &Element) -> bool {
    let name = element.name().to_string();
    let last = name.rsplit(':').next().unwrap_or_default().trim();
    last.starts_with(char::is_uppercase)
}

/// A `Box<Element>`.
fn boxed(element: &Element, space: Space) -> syn::Result<TokenStream> {
    let name = element.name().to_string();
    let space = match SVG.contains(&name.as_str()) {
        true => Space::Svg,
        false => space,
    };
    let made = hidden("made");
    let new = match space {
        Space::Html => quote!(html),
        Space::Svg => quote!(svg),
    };
    let mut fills = Vec::new();
    for attribute in element.attributes() {
        let NodeAttribute::Attribute(attribute) = attribute else {
            return Err(syn::Error::new_spanned(attribute, "expected name=value"));
        };
        fills.push(fill(attribute)?);
    }
    for child in element.children().iter().filter(|n| is_shown(n)) {
        fills.push(match child {
            Node::Text(text) => {
                let text = &text.value;
                quote!(text(#text))
            }
            Node::Element(element) if !is_component(element) => {
                let child = boxed(element, space)?;
                quote!(element(#child))
            }
            other => {
                let child = of_node(other, space)?;
                quote!(child(#child))
            }
        });
    }
    Ok(quote!({
        #[allow(unused_mut, reason = "an element may be empty")]
        let mut #made = crate::markup::Element::#new(#name);
        #(#made.#fills;)*
        #made
    }))
}

/// The call that sets one attribute.
fn fill(attribute: &KeyedAttribute) -> syn::Result<TokenStream> {
    let name = attribute.key.to_string();
    let value = attribute.value();
    let given = || match value {
        Some(value) => Ok(bare(value)),
        None => Err(syn::Error::new_spanned(attribute, "expected a value")),
    };
    // Errors about a value are shown at the value.
    let span = value.map_or_else(|| attribute.span(), Spanned::span);
    if name == "node_ref" {
        let value = given()?;
        return Ok(quote_spanned!(span=> reference(#value)));
    }
    if let Some(event) = name.strip_prefix("on:") {
        let value = given()?;
        let (event, capture) = match event.strip_suffix(":capture") {
            Some(event) => (event, true),
            None => (event, false),
        };
        let event = format_ident!("{event}");
        let event = match capture {
            true => quote!(::leptos::ev::capture(::leptos::ev::#event)),
            false => quote!(::leptos::ev::#event),
        };
        return Ok(quote_spanned!(span=> on(#event, #value)));
    }
    if let Some(property) = name.strip_prefix("prop:") {
        let value = given()?;
        return Ok(quote_spanned!(span=> property(#property, #value)));
    }
    if let Some(class) = name.strip_prefix("class:") {
        let value = given()?;
        return Ok(quote_spanned!(span=> toggle(#class, #value)));
    }
    Ok(match value {
        None => quote!(fixed(#name, "")),
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(value),
            ..
        })) => quote!(fixed(#name, #value)),
        Some(_) => {
            let value = given()?;
            quote_spanned!(span=> attribute(#name, #value))
        }
    })
}

fn bare(value: &Expr) -> TokenStream {
    match value {
        Expr::Block(ExprBlock {
            attrs,
            label: None,
            block,
        }) if attrs.is_empty() => without_braces(block),
        other => quote!(#other),
    }
}

/// Calls a component with its properties. A property without a value is a variable of its name.
fn component(element: &Element) -> syn::Result<TokenStream> {
    let name = element.name();
    let mut properties = Vec::new();
    for attribute in element.attributes() {
        let NodeAttribute::Attribute(attribute) = attribute else {
            return Err(syn::Error::new_spanned(attribute, "expected name=value"));
        };
        let NodeName::Path(key) = &attribute.key else {
            return Err(syn::Error::new_spanned(attribute, "expected a property"));
        };
        let value = match attribute.value() {
            Some(value) => bare(value),
            None => quote!(#key),
        };
        properties.push(quote_spanned!(attribute.span()=> .#key(#value)));
    }
    if element.children().iter().any(is_shown) {
        let children = of_nodes(element.children(), Space::Html)?;
        properties.push(quote!(.children(::std::convert::From::from(move || #children))));
    }
    Ok(quote! {
        crate::markup::IntoMarkup::into_markup(::leptos::component::component_view(
            &#name,
            ::leptos::component::component_props_builder(&#name) #(#properties)* .build(),
        ))
    })
}
