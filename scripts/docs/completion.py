#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completions of the program for bash, zsh and fish, from its own tables of options.

    scripts/docs/completion.py PROGRAM FOLDER

writes FOLDER/bash/sightline, FOLDER/zsh/_sightline and FOLDER/fish/sightline.fish. Meson calls this when Sightline is installed.
"""
import os
import sys

import commands

# Commands whose arguments are names of the zoo, and those names.
ZOO_COMMANDS = ("get", "zoo")
ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "zoo", "rows")
ZOO_NAMES = " ".join(sorted(name[:-len(".ini")] for name in os.listdir(ROWS) if name.endswith(".ini")))

BASH = """# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of sightline for bash, made from the program's own tables of options.
_sightline ()
{
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options='' values=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '@NAMES@ --help --version' -- "$word")
    return
  fi
  # bash makes three words of --fit=crop.
  if [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  elif [ "$word" = = ]; then
    word=''
  fi
@FIRST@  case $command in
@OPTIONS@  esac
  case $command:$before in
@VALUES@  esac
  if [ -n "$values" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
      compopt -o nospace 2>/dev/null
    fi
  elif [[ $command == @ZOO@ ]]; then
    mapfile -t COMPREPLY < <(compgen -W '@ZOO_NAMES@' -- "$word")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _sightline sightline
"""


def groups(parts):
    """{command: [its parts with words of their own]} of the commands that have such."""
    found = {}
    for part in parts:
        if len(part.words) > 1:
            found.setdefault(part.words[0], []).append(part.words[1])
    return found


def names_of(option):
    return ["--" + option["long"]] + (["-" + option["short"]] if option["short"] else [])


def bash(names, parts):
    first, options, values = "", "", ""
    for name, words in groups(parts).items():
        first += "  if [[ $command == %s ]]; then\n    if [ \"$COMP_CWORD\" -eq 2 ]; then\n" % name
        first += "      mapfile -t COMPREPLY < <(compgen -W '%s --help' -- \"$word\")\n      return\n    fi\n" % " ".join(words)
        first += "    command=\"$command ${COMP_WORDS[2]}\"\n  fi\n"
    for part in parts:
        command = " ".join(part.words)
        listed = ["--" + option["long"] + ("=" if option["value"] else "") for option in part.options]
        options += "    '%s') options='%s' ;;\n" % (command, " ".join(listed))
        for option in part.options:
            if option["choices"]:
                patterns = "|".join("'%s:%s'" % (command, name) for name in names_of(option))
                values += "    %s) values='%s' ;;\n" % (patterns, " ".join(option["choices"]))
            elif option["value"] and not option["file"]:
                patterns = "|".join("'%s:%s'" % (command, name) for name in names_of(option))
                values += "    %s) return ;;\n" % patterns
    text = BASH.replace("@NAMES@", " ".join(name for name, _ in names))
    text = text.replace("@ZOO@", "@(%s)" % "|".join(ZOO_COMMANDS)).replace("@ZOO_NAMES@", ZOO_NAMES)
    return text.replace("@FIRST@", first).replace("@OPTIONS@", options).replace("@VALUES@", values)


def zsh_quote(text):
    return text.replace("'", "'\\''")


def zsh_option(option):
    text = zsh_quote(option["help"].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]"))
    tail = ""
    if option["value"]:
        action = "_files" if option["file"] else "(%s)" % " ".join(option["choices"]) if option["choices"] else " "
        tail = ":%s:%s" % (zsh_quote(option["value"].replace(":", "\\:")), action)
    long = "--" + option["long"] + ("=" if option["value"] else "")
    if option["many"]:
        return ["'*%s[%s]%s'" % (name, text, tail) for name in [long] + names_of(option)[1:]]
    if not option["short"]:
        return ["'%s[%s]%s'" % (long, text, tail)]
    return ["'(%s)'{-%s,%s}'[%s]%s'" % (" ".join(names_of(option)), option["short"], long, text, tail)]


def zsh_part(part):
    lines = [line for option in part.options for line in zsh_option(option)] + ["'*:%s:%s'" % (
        zsh_quote(part.arguments).replace(":", "\\:") or "argument", "(%s)" % ZOO_NAMES if part.words[0] in ZOO_COMMANDS else "_files")]
    return "_arguments -s \\\n" + " \\\n".join("        " + line for line in lines)


def zsh_describe(label, rows):
    return "local -a %s=(\n%s\n  )\n  _describe %s %s\n" % (
        label, "\n".join("    '%s:%s'" % (name, zsh_quote(summary).replace(":", "\\:")) for name, summary in rows), label, label)


def zsh(names, parts):
    text = "#compdef sightline\n# SPDX-License-Identifier: LGPL-2.1-or-later\n"
    text += "# Completion of sightline for zsh, made from the program's own tables of options.\n"
    text += "_sightline_command ()\n{\n  " + zsh_describe("commands", names) + "}\n\n"
    cases = ""
    for part in parts:
        if len(part.words) == 1:
            cases += "    %s)\n      %s\n      ;;\n" % (part.words[0], zsh_part(part))
    for name, words in groups(parts).items():
        cases += "    %s)\n      shift words\n      (( CURRENT-- ))\n      if (( CURRENT == 1 )); then\n        compadd %s\n        return\n      fi\n" % (
            name, " ".join(words))
        cases += "      case $words[1] in\n"
        for part in parts:
            if len(part.words) > 1 and part.words[0] == name:
                cases += "    %s)\n      %s\n      ;;\n" % (part.words[1], zsh_part(part))
        cases += "      esac\n      ;;\n"
    text += "_sightline ()\n{\n  if (( CURRENT == 2 )); then\n    _sightline_command\n    return\n  fi\n"
    text += "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n" + cases + "  esac\n}\n\n_sightline \"$@\"\n"
    return text


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(names, parts):
    lines = ["# SPDX-License-Identifier: LGPL-2.1-or-later", "# Completion of sightline for fish, made from the program's own tables of options.",
             "complete -c sightline -n __fish_use_subcommand -f"]
    for name, summary in names:
        lines.append("complete -c sightline -n __fish_use_subcommand -a %s -d %s" % (name, fish_quote(summary)))
    lines.append("complete -c sightline -n __fish_use_subcommand -l help -s h -d 'Show help'")
    lines.append("complete -c sightline -n __fish_use_subcommand -l version -d 'Show the version, and what was built in'")
    for name, words in groups(parts).items():
        seen = "__fish_seen_subcommand_from " + name
        lines.append("complete -c sightline -n %s -f -a %s" % (fish_quote(seen + "; and not __fish_seen_subcommand_from " + " ".join(words)),
                                                             fish_quote(" ".join(words))))
    lines.append("complete -c sightline -n %s -f -a %s" % (fish_quote("__fish_seen_subcommand_from " + " ".join(ZOO_COMMANDS)), fish_quote(ZOO_NAMES)))
    for part in parts:
        condition = fish_quote("; and ".join("__fish_seen_subcommand_from " + word for word in part.words))
        for option in part.options:
            line = "complete -c sightline -n %s -l %s" % (condition, option["long"])
            line += " -s " + option["short"] if option["short"] else ""
            if option["choices"]:
                line += " -x -a " + fish_quote(" ".join(option["choices"]))
            elif option["value"]:
                line += " -r -F" if option["file"] else " -x"
            lines.append(line + " -d " + fish_quote(option["help"]))
    return "\n".join(lines) + "\n"


def write_completions(program, folder):
    names, parts = commands.read(program)
    for shell, name, text in (("bash", "sightline", bash(names, parts)), ("zsh", "_sightline", zsh(names, parts)), ("fish", "sightline.fish", fish(names, parts))):
        os.makedirs(os.path.join(folder, shell), exist_ok=True)
        with open(os.path.join(folder, shell, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: completion.py PROGRAM FOLDER")
    write_completions(*sys.argv[1:])
