#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page for each element of plugin files, with its pads, properties and signals as GStreamer's introspection has them.

    scripts/docs/elements.py PLUGIN_FILE... FOLDER

writes FOLDER/ELEMENT.md and FOLDER/README.md, their index. Needs Debian's python3-gi and GStreamer's typelib.
"""
import atexit
import os
import shutil
import sys
import tempfile

# What people know values by.
TYPES = {"gchararray": "string", "gboolean": "boolean", "gint": "integer", "guint": "integer", "gint64": "integer", "guint64": "integer",
         "gfloat": "number", "gdouble": "number", "gulong": "integer", "glong": "integer"}
# Of every GStreamer element, and said in GStreamer's reference.
BASES = {"GObject", "GstObject", "GstElement", "GstBin", "GstBaseTransform", "GstBaseSink", "GstBaseSrc", "GstPushSrc", "GstAggregator", "GstBaseParse"}


def load(files):
    """[GstElementFactory] of the plugin files, by name."""
    if "GST_REGISTRY" not in os.environ:
        folder = tempfile.mkdtemp(prefix="sightline-docs-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["GST_REGISTRY"] = os.path.join(folder, "registry")
    import gi
    try:
        gi.require_version("Gst", "1.0")
    except ValueError as error:
        raise ImportError(str(error)) from error
    from gi.repository import Gst
    Gst.init(None)
    found = []
    for path in files:
        plugin = Gst.Plugin.load_file(os.path.abspath(path))
        registry = Gst.Registry.get()
        found += [feature for feature in registry.get_feature_list_by_plugin(plugin.get_name()) if isinstance(feature, Gst.ElementFactory)]
    return sorted(found, key=lambda factory: factory.get_name())


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def code(text):
    return "`%s`" % str(text).replace("|", "\\|").replace("`", "'")


def number(value):
    return ("%.6g" % value) if isinstance(value, float) else str(value)


def choices(spec):
    """The nicks of an enumeration's or of flags' values."""
    kind = getattr(spec, "enum_class", None) or getattr(spec, "flags_class", None)
    values = (getattr(kind, "__enum_values__", None) or getattr(kind, "__flags_values__", None) or {}) if kind is not None else {}
    return [value.value_nicks[0] if hasattr(value, "value_nicks") else value.value_nick for value in values.values()]


def default_of(spec):
    value = spec.get_default_value() if hasattr(spec, "get_default_value") else spec.default_value
    if value is None or value == "":
        return None
    if hasattr(value, "value_nick"):
        return value.value_nick
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, (int, float)) else str(value)


def describe_type(spec):
    """"integer, 1..100" or "one of a, b"."""
    names = choices(spec)
    if names:
        return "one of " + ", ".join(code(name) for name in names)
    text = TYPES.get(spec.value_type.name, code(spec.value_type.name))
    if text in ("integer", "number") and hasattr(spec, "minimum"):
        text += ", %s..%s" % (number(spec.minimum), number(spec.maximum))
    return text


def access(spec):
    from gi.repository import GObject, Gst
    flags = spec.flags
    words = []
    if not flags & GObject.ParamFlags.WRITABLE:
        words.append("read only")
    elif flags & GObject.ParamFlags.CONSTRUCT_ONLY:
        words.append("set when the element is made")
    if not flags & GObject.ParamFlags.READABLE:
        words.append("write only")
    if int(flags) & int(Gst.PARAM_MUTABLE_PLAYING):
        words.append("may change while playing")
    elif int(flags) & int(Gst.PARAM_MUTABLE_PAUSED):
        words.append("may change in PAUSED")
    elif int(flags) & int(Gst.PARAM_MUTABLE_READY):
        words.append("may change in READY")
    return ", ".join(words)


def properties(element):
    return [spec for spec in element.list_properties() if spec.owner_type.name not in BASES]


def signals(element):
    """[GSignalQuery] of the element's own types."""
    from gi.repository import GObject
    found, kind = [], element.__gtype__
    while kind.name not in BASES and kind.name != "void" and kind.name:
        found += [GObject.signal_query(number) for number in GObject.signal_list_ids(kind)]
        kind = kind.parent
    return found


def page(factory):
    element = factory.create(None)
    assert element is not None, factory.get_name()
    lines = ["# " + factory.get_name(), "", factory.get_metadata("description") + ("" if factory.get_metadata("description").endswith(".") else "."), "",
             "%s. Class: %s. Rank: %d." % (factory.get_metadata("long-name"), factory.get_metadata("klass"), factory.get_rank())]
    lines += ["", "## Pads"]
    for template in factory.get_static_pad_templates():
        lines += ["", "`%s`, %s, %s:" % (template.name_template, template.direction.value_nick, template.presence.value_nick), "", "```"]
        lines += [str(part).rstrip() for part in template.get_caps().to_string().replace("; ", ";\n").splitlines()] + ["```"]
    lines += ["", "## Properties", "", "| property | values | what it does |", "|---|---|---|"]
    for spec in properties(element):
        default, more = default_of(spec), access(spec)
        values = describe_type(spec) + ("; default " + code(default) if default is not None else "") + ("; " + more if more else "")
        lines.append("| `%s` | %s | %s |" % (spec.name, values, cell(spec.blurb or "")))
    found = signals(element)
    if found:
        lines += ["", "## Signals", ""]
    for query in found:
        parameters = ", ".join(kind.name for kind in query.param_types)
        lines.append("- `%s` (%s)%s" % (query.signal_name, parameters, " returns " + query.return_type.name if query.return_type.name != "void" else ""))
    return "\n".join(lines) + "\n"


def write_pages(files, folder):
    factories = load(files)
    os.makedirs(folder, exist_ok=True)
    index = ["# Elements", "", "Pads, properties and signals of each element, as the plugin has them.", "", "| element | what it does |", "|---|---|"]
    for factory in factories:
        with open(os.path.join(folder, factory.get_name() + ".md"), "w", encoding="utf-8") as file:
            file.write(page(factory))
        index.append("| [%s](%s.md) | %s |" % (factory.get_name(), factory.get_name(), cell(factory.get_metadata("description"))))
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(index) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: elements.py PLUGIN_FILE... FOLDER")
    write_pages(sys.argv[1:-1], sys.argv[-1])
