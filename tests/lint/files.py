# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Files that must agree with each other: actions, message ids, manual pages, options."""

import json
import re
import xml.etree.ElementTree as tree_of

from tree import TOP, Trouble, build_directory, read, run, tracked, with_suffix

POLICY = "polkit/org.roundtable.Sandbox1.policy"
INTERFACE = "dbus/org.roundtable.Sandbox1.xml"
# Programs that an operator never starts or sees.
NO_MANUAL = {"sandbox-tool-clock", "make-worker-image"}


def xml():
    names = with_suffix(".xml", ".policy") + [name for name in with_suffix(".conf") if name.startswith("dbus/")]
    status, text = run("xmllint", "--noout", "--nonet", *names)
    return text.splitlines() or ([f"xmllint ended with status {status}"] if status else [])


def json_files():
    faults = []
    for name in with_suffix(".json"):
        if "/corpus/" in name:
            continue
        try:
            json.loads(read(name))
        except ValueError as error:
            faults.append(f"{name}: {error}")
    return faults


def actions():
    """Each action that the interface names is declared, for sandboxd to ask about, and safe by default."""
    faults = []
    declared = tree_of.parse(TOP / POLICY).getroot().findall("action")
    names = {action.get("id").split(".")[-1] for action in declared}
    wanted = set()
    for line in re.findall(r"[Aa]ctions?: ([^.]*)\.", read(INTERFACE)):
        wanted |= set(re.findall(r"\b[a-z]+(?:-[a-z]+)+\b", line))
    faults += [f"{INTERFACE}: the action {name} is not in {POLICY}" for name in sorted(wanted - names)]
    if not wanted:
        faults.append(f"{INTERFACE}: names no action")
    for action in declared:
        owner = [note.text for note in action.findall("annotate") if note.get("key") == "org.freedesktop.policykit.owner"]
        if owner != ["unix-user:sandboxd"]:
            faults.append(f"{POLICY}: {action.get('id')}: sandboxd could not ask about it")
        if {part.text for part in action.find("defaults")} != {"auth_admin"}:
            faults.append(f"{POLICY}: {action.get('id')}: the default must be auth_admin")
    return faults


def catalog():
    ids = re.findall(r'"([0-9a-f]{32})"', read("src/base/log-ids.h"))
    entries = re.findall(r"^-- ([0-9a-f]{32})$", read("units/roundtable-sandbox.catalog"), re.MULTILINE)
    faults = [f"log-ids.h: {one} has no entry in the catalog" for one in sorted(set(ids) - set(entries))]
    faults += [f"catalog: {one} is no message id of ours" for one in sorted(set(entries) - set(ids))]
    faults += [f"{one} is there twice" for one in sorted(set(ids)) if ids.count(one) > 1 or entries.count(one) > 1]
    return faults


def bots():
    """Each error that a caller can get has its row in the page for authors of bots, and no other has one."""
    named = set(re.findall(r'SBX_BUS_ERROR_PREFIX "(\w+)"', read("src/bus/errors.c")))
    text = read("doc/bots.md").split("## Errors")[-1].split("## Rights")[0]
    # The first cell of a row; the bus's own errors have a table of their own.
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    rows = {name for cell in cells for name in re.findall(r"`([A-Z]\w+)`", cell)}
    own = re.search(r"Besides these(.*?)###", text, re.DOTALL).group(1)
    faults = [f"doc/bots.md: {name} has no row" for name in sorted(named - rows)]
    return faults + [f"doc/bots.md: there is no error {name}" for name in sorted(rows - named) if f"`{name}`" not in own]


def manuals():
    """Every page that is named exists, and every program has one. The build refuses pages with warnings."""
    pages = {name.split("/")[-1][: -len(".rst")] for name in tracked() if name.startswith("doc/man/")}
    pages.add("org.roundtable.Sandbox1.5")  # made of the interface's XML
    faults = []
    for name in tracked():
        if not name.startswith(("units/", "doc/man/")):
            continue
        text = read(name)
        named = re.findall(r"man:([\w.@-]+)\((\d)\)", text) + re.findall(r"\*\*(sandbox[\w.-]*)\*\*\\\((\d)\)", text)
        faults += [f"{name}: there is no page {page}({section})" for page, section in named if f"{page}.{section}" not in pages]
    for line in read("tests/lint/installed.txt").splitlines():
        program = line.split("/")[-1]
        if "/bin/" in line or "/libexec/" in line:
            if program not in NO_MANUAL and not any(page.rsplit(".", 1)[0] == program for page in pages):
                faults.append(f"{program} has no manual page")
    return faults


def options():
    """The options of the program, of the shipped file and of sandboxd.conf(5) are the same, with the same defaults."""
    program = build_directory() / "tests/lint/option-table"
    if not program.exists():
        raise Trouble(f"{program} was not built")
    _, text = run(str(program))
    table = dict(line.split("\t", 1) for line in text.splitlines())
    shipped, group = {}, None
    for line in read("etc/sandboxd.conf").splitlines():
        if found := re.fullmatch(r"\[(\w+)\]", line):
            group = found.group(1)
        elif found := re.fullmatch(r"#(\w+)=(.*)", line):
            shipped[f"{group}.{found.group(1)}"] = found.group(2)
    faults = [f"etc/sandboxd.conf: {name} is missing" for name in table if name not in shipped]
    faults += [f"etc/sandboxd.conf: there is no option {name}" for name in shipped if name not in table]
    # A long text, and an example, stand for their defaults.
    faults += [
        f"etc/sandboxd.conf: the default of {name} is {table[name]!r}, not {value!r}"
        for name, value in shipped.items()
        if name in table and name not in ("Worker.Prompt", "Model.URL") and value != table[name]
    ]
    page = read("doc/man/sandboxd.conf.5.rst")
    for name, standard in table.items():
        key = name.split(".")[1]
        if f"*{key}=*" not in page:
            faults.append(f"sandboxd.conf(5): {key}= is missing")
        elif standard and name != "Worker.Prompt" and standard not in page:
            faults.append(f"sandboxd.conf(5): {key}=: its default, {standard}, is not told")
    faults += [
        f"sandboxd.conf(5): there is no option {key}="
        for key in re.findall(r"\*(\w+)=\*", page.split("HOST TOOLS")[0])
        if not any(name.endswith(f".{key}") for name in table)
    ]
    return faults
