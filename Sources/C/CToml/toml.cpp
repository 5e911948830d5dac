#include "CToml.h"

#if !__has_include(<toml++/impl/forward_declarations.h>)
#error "toml++ is missing: install libtomlplusplus-dev (Debian), tomlplusplus-devel (Fedora) or tomlplusplus (Arch)"
#endif

// No mistake is an exception, and no exception passes this file: memory that cannot be had ends the process, as it
// does in Swift.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#define TOML_MAX_NESTED_VALUES REACH_TOML_NESTING_LIMIT
// toml++ asserts, and in releases has the compiler assume, that a header's key begins with a letter or a quote: "[.]"
// proves it wrong. The code behind its assertions refuses such texts by itself. So they are neither asserted nor assumed.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
// What it calls unreachable when it asks whether a character is a space is reached by each letter from U+00A1 to U+0499.
#include <toml++/impl/forward_declarations.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#include <toml++/toml.h>

struct reach_toml_document {
    toml::parse_result result;
};

namespace {

const toml::node &of(const reach_toml_node *node) noexcept { return *reinterpret_cast<const toml::node *>(node); }

const reach_toml_node *handle(const toml::node &node) noexcept {
    return reinterpret_cast<const reach_toml_node *>(&node);
}

reach_toml_text text(std::string_view view) noexcept { return {view.data(), view.size()}; }

reach_toml_place place(const toml::source_region &source) noexcept { return {source.begin.line, source.begin.column}; }

// Elements that headers make are no inline tables; toml++ itself makes no difference between the two kinds of arrays.
bool is_made_by_headers(const toml::array &array) noexcept {
    const auto *first = array.empty() ? nullptr : array.front().as_table();
    return first && !first->is_inline();
}

}  // namespace

reach_toml_document *reach_toml_parse(const char *bytes, size_t count) {
    return new reach_toml_document{toml::parse(std::string_view{bytes, count})};
}

void reach_toml_free(reach_toml_document *document) { delete document; }

reach_toml_text reach_toml_mistake(const reach_toml_document *document, reach_toml_place *at) {
    if (document->result.succeeded()) return {nullptr, 0};
    *at = place(document->result.error().source());
    return text(document->result.error().description());
}

const reach_toml_node *reach_toml_root(const reach_toml_document *document) {
    return document->result.succeeded() ? handle(document->result.table()) : nullptr;
}

reach_toml_kind reach_toml_kind_of(const reach_toml_node *node) {
    switch (of(node).type()) {
        case toml::node_type::string: return REACH_TOML_STRING;
        case toml::node_type::integer: return REACH_TOML_INTEGER;
        case toml::node_type::floating_point: return REACH_TOML_FLOAT;
        case toml::node_type::boolean: return REACH_TOML_BOOLEAN;
        case toml::node_type::array:
            return is_made_by_headers(*of(node).as_array()) ? REACH_TOML_TABLES : REACH_TOML_ARRAY;
        case toml::node_type::table: return REACH_TOML_TABLE;
        default: return REACH_TOML_MOMENT;
    }
}

reach_toml_place reach_toml_place_of(const reach_toml_node *node) { return place(of(node).source()); }

reach_toml_text reach_toml_string(const reach_toml_node *node) {
    const auto *value = of(node).as_string();
    return value ? text(value->get()) : reach_toml_text{"", 0};
}

int64_t reach_toml_integer(const reach_toml_node *node) {
    const auto *value = of(node).as_integer();
    return value ? value->get() : 0;
}

double reach_toml_float(const reach_toml_node *node) {
    const auto *value = of(node).as_floating_point();
    return value ? value->get() : 0;
}

bool reach_toml_boolean(const reach_toml_node *node) {
    const auto *value = of(node).as_boolean();
    return value && value->get();
}

void reach_toml_each_entry(const reach_toml_node *node, void *context, reach_toml_visitor visit) {
    const auto *table = of(node).as_table();
    if (!table) return;
    for (auto &&[key, value] : *table) visit(context, text(key.str()), place(key.source()), handle(value));
}

void reach_toml_each_element(const reach_toml_node *node, void *context, reach_toml_visitor visit) {
    const auto *array = of(node).as_array();
    if (!array) return;
    for (auto &&value : *array) visit(context, {"", 0}, place(value.source()), handle(value));
}
