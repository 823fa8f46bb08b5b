// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// Lines for the journal, with its priorities (sd-daemon(3)). Ids only: no words of anybody's, no names, no token.

function write(priority, text) {
  process.stderr.write(`<${priority}>${String(text).replaceAll('\n', ' ')}\n`);
}

export const log = {
  error: (text) => write(3, text),
  warning: (text) => write(4, text),
  info: (text) => write(6, text),
};
