# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A caller on the system bus that costs nearly nothing: messages are bytes on one socket, kept open like a bot's. So what is
measured is the service, not a D-Bus library, and many calls can be under way at once."""

import os
import pwd
import socket
import struct
import time

NAME = "org.roundtable.Sandbox1"
OBJECT = "/org/roundtable/Sandbox1"
MANAGER = NAME + ".Manager"
REPLY, ERROR = 2, 3
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SIGNATURE = 1, 2, 3, 4, 5, 6, 8


class Failed(Exception):
    """An error that came back."""


class Writer:
    """Little-endian marshalling of what a call to the service needs."""

    def __init__(self):
        self.data = bytearray()

    def align(self, size):
        self.data += bytes(-len(self.data) % size)

    def number(self, value, form="<I", size=4):
        self.align(size)
        self.data += struct.pack(form, value)

    def text(self, value):
        raw = value.encode()
        self.number(len(raw))
        self.data += raw + b"\0"

    def signature(self, value):
        self.data += bytes([len(value)]) + value.encode() + b"\0"

    def array(self, items):
        """Each item writes itself, aligned to 8 as structures and dictionary entries are."""
        self.number(0)
        place = len(self.data)
        self.align(8)
        begin = len(self.data)
        for item in items:
            self.align(8)
            item(self)
        struct.pack_into("<I", self.data, place - 4, len(self.data) - begin)


def header_field(code, kind, value):
    def write(writer):
        writer.data.append(code)
        writer.signature(kind)
        if kind == "g":
            writer.signature(value)
        else:
            writer.text(value)
    return write


def option(name, value):
    def write(writer):
        writer.text(name)
        writer.signature("s")
        writer.text(value)
    return write


def read_text(data, place):
    place += -place % 4
    length = struct.unpack_from("<I", data, place)[0]
    return bytes(data[place + 4:place + 4 + length]).decode(), place + 4 + length + 1


def read_fields(data, length):
    """The header's fields that matter here: numbers and texts by their code."""
    fields, place = {}, 16
    while place < 16 + length:
        place += -place % 8
        code, kind = data[place], chr(data[place + 2])
        place += 4
        if kind == "g":
            size = data[place]
            fields[code] = bytes(data[place + 1:place + 1 + size]).decode()
            place += size + 2
        elif kind == "u":
            place += -place % 4
            fields[code] = struct.unpack_from("<I", data, place)[0]
            place += 4
        else:
            fields[code], place = read_text(data, place)
    return fields


class Caller:
    """One connection, as that user."""

    def __init__(self, user="bot"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(180)
        self.serial = 0
        self.input = bytearray()
        entry = pwd.getpwnam(user)
        uid = entry.pw_uid
        # The bus and polkit know a caller by what it was when it connected.
        groups = os.getgroups()
        os.initgroups(user, entry.pw_gid)  # polkit 126 asks the bus for them
        os.seteuid(uid)
        try:
            self.socket.connect("/run/dbus/system_bus_socket")
            self.socket.sendall(b"\0AUTH EXTERNAL " + str(uid).encode().hex().encode() + b"\r\n")
            if not self.socket.recv(256).startswith(b"OK"):
                raise Failed("the bus does not take us")
            self.socket.sendall(b"BEGIN\r\n")
        finally:
            os.seteuid(0)
            os.setgroups(groups)
        self.wait(self.send("Hello", "", b"", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"))

    def send(self, member, signature, body, destination=NAME, path=OBJECT, interface=MANAGER):
        """Returns the call's number."""
        self.serial += 1
        out = Writer()
        out.data += struct.pack("<4BII", ord("l"), 1, 0, 1, len(body), self.serial)
        fields = [header_field(PATH, "o", path), header_field(INTERFACE, "s", interface),
                  header_field(MEMBER, "s", member), header_field(DESTINATION, "s", destination)]
        if signature:
            fields.append(header_field(SIGNATURE, "g", signature))
        out.array(fields)
        out.align(8)
        self.socket.sendall(out.data + body)
        return self.serial

    def receive(self):
        """The next answer to any call: its number, kind, fields and body. Signals are passed over."""
        while True:
            message = self.take()
            if message is None:
                more = self.socket.recv(1 << 20)
                if not more:
                    raise Failed("the bus has closed the connection")
                self.input += more
            elif message[1] in (REPLY, ERROR):
                return message

    def take(self):
        if len(self.input) < 16:
            return None
        kind = self.input[1]
        n_body, _, n_fields = struct.unpack_from("<III", self.input, 4)
        start = 16 + n_fields + -n_fields % 8
        if len(self.input) < start + n_body:
            return None
        fields = read_fields(self.input, n_fields)
        body = bytes(self.input[start:start + n_body])
        del self.input[:start + n_body]
        return fields.get(REPLY_SERIAL), kind, fields, body

    def wait(self, serial):
        """The answer's body; no other call may be under way."""
        number, kind, fields, body = self.receive()
        if number != serial:
            raise Failed("an answer to another call")
        if kind == ERROR:
            raise Failed(f"{fields.get(ERROR_NAME)}: {read_text(body, 0)[0]}")
        return body

    def send_turn(self, channel, text="Hello", method="RunTurn", **options):
        out = Writer()
        for value in (channel, "1001", "Ada", text):
            out.text(value)
        out.array([option(name.replace("_", "-"), value) for name, value in options.items()])
        return self.send(method, "ssssa{sv}", bytes(out.data))

    def turn(self, channel, **options):
        """A turn from call to reply: milliseconds. One that failed is an error."""
        began = time.perf_counter()
        body = self.wait(self.send_turn(channel, **options))
        took = (time.perf_counter() - began) * 1000
        if options.get("method", "RunTurn") == "RunTurn":
            check_reply(body)
        return took

    def turns(self, channels):
        """One turn in each channel, all at once: milliseconds from the first call to each reply."""
        began = time.perf_counter()
        waiting = {self.send_turn(channel) for channel in channels}
        took = []
        while waiting:
            number, kind, fields, body = self.receive()
            took.append((time.perf_counter() - began) * 1000)
            if kind == ERROR:
                raise Failed(f"{fields.get(ERROR_NAME)}: {read_text(body, 0)[0]}")
            check_reply(body)
            waiting.remove(number)
        return took

    def steady(self, channels, count):
        """count turns in all, a channel's next one as soon as it has its reply: when each reply came."""
        came = []
        waiting = {self.send_turn(channel): channel for channel in channels}
        while waiting:
            number, kind, fields, body = self.receive()
            came.append(time.perf_counter())
            if kind == ERROR:
                raise Failed(f"{fields.get(ERROR_NAME)}: {read_text(body, 0)[0]}")
            check_reply(body)
            channel = waiting.pop(number)
            if len(came) + len(waiting) < count:
                waiting[self.send_turn(channel)] = channel
        return came

    def number(self, name):
        """A property of the Manager that is an unsigned number."""
        out = Writer()
        out.text(MANAGER)
        out.text(name)
        body = self.wait(self.send("Get", "ss", bytes(out.data), interface="org.freedesktop.DBus.Properties"))
        return struct.unpack_from("<I", body, 4)[0]

    def close(self):
        self.socket.close()


def check_reply(body):
    """(b ok, s text)"""
    if struct.unpack_from("<I", body, 0)[0] != 1:
        raise Failed(f"the turn gave no good reply: {read_text(body, 4)[0]}")
