/**
 * A made-up kind, TIP: a second charge on a hold, made as docs/contributing.md says, out of what a capture is today.
 */
import assert from 'node:assert/strict';

/** Makes a file's new text of its text; the text of a new file is made of the file `from`. */
export interface Edit {
  readonly file: string;
  readonly from?: string;
  readonly edit: (text: string) => string;
}

/** What a new kind touches, in the order of the table of docs/contributing.md. */
export const EDITS: readonly Edit[] = [
  {
    file: 'proto/holdfast/v1/operation.proto',
    edit: (text) =>
      text.replace(
        /^enum OperationKind \{\n[\s\S]*?(?=^\})/m,
        '$&  // Charge a tip on a hold.\n  OPERATION_KIND_TIP = 99;\n',
      ),
  },
  { file: 'proto/holdfast/v1/preauthorization.proto', edit: withMethod },
  {
    file: 'services/core/domain/kinds.ts',
    edit: (text) =>
      repeated(repeated(text, /^ {2}CAPTURE: \{ \.\.\..*\n/m), /^ {2}CAPTURE: \{ operation.*\n/m).replace(
        "entry: 'TIP'",
        "entry: 'CAPTURE'",
      ),
  },
  {
    file: 'services/core/domain/capture-rules.ts',
    edit: (text) => `${text}\n/** Judges a tip as a capture. */\nexport const judgeTip = judgeCapture;\n`,
  },
  {
    file: 'services/core/books/rules.ts',
    edit: (text) =>
      repeated(text, /^ {2}CAPTURE: \{[\s\S]*?^ {2}\},\n/m).replace('judgeCapture,', 'judgeCapture, judgeTip,'),
  },
  {
    file: 'services/core/kinds/send-to-processor.ts',
    edit: (text) => repeated(text, /^ {2}CAPTURE\([\s\S]*?^ {2}\},\n/m),
  },
  {
    file: 'services/core/rpc/preauthorization/tip-preauthorization.ts',
    from: 'services/core/rpc/preauthorization/capture-preauthorization.ts',
    edit: asTip,
  },
  { file: 'services/core/rpc/services.ts', edit: withLines },
  {
    file: 'gateway/rest/preauthorization/tip-preauthorization.ts',
    from: 'gateway/rest/preauthorization/capture-preauthorization.ts',
    // A tip is signed where captures are: contracts have no term of its own.
    edit: (text) =>
      asTip(text)
        .replace('POST /preauthorization/authorization', 'POST /preauthorization/tip')
        .replace("demandSignature('TIP')", "demandSignature('CAPTURE')"),
  },
  { file: 'gateway/rest/rest.ts', edit: withLines },
  {
    file: 'gateway/openapi/examples/merchants.ts',
    edit: (text) =>
      repeated(text, /(^ {2}request\('capturePreauthorization',[\s\S]*?^ {2}\}\),\n)+^ {2}lost\('capture.*\n/m),
  },
  { file: 'docs/product.md', edit: (text) => `${text}\n\`POST /preauthorization/tip\` charges a tip.\n` },
  {
    file: 'test/services/core/kinds/samples.ts',
    edit: (text) =>
      [/^ {2}'capture stored': .*\n/m, /^ {2}'capture answered': .*\n/m, /^ {2}CAPTURE: \{[\s\S]*?^ {2}\},\n/m].reduce(
        repeated,
        text,
      ),
  },
];

/** Repeats what a pattern finds, for the new kind. */
function repeated(text: string, pattern: RegExp): string {
  const [found] = pattern.exec(text) ?? assert.fail(`nothing is like ${pattern}`);
  return text.replace(found, () => found + asTip(found));
}

function asTip(text: string): string {
  return text
    .replaceAll('capturePreauthorization', 'tipPreauthorization')
    .replaceAll(/CapturePreauthorization(?!Response)/g, 'TipPreauthorization')
    .replaceAll('judgeCapture', 'judgeTip')
    .replaceAll("'CAPTURE'", "'TIP'")
    .replaceAll(/^( *)CAPTURE\b/gm, '$1TIP')
    .replaceAll(/'capture (stored|answered)'/g, "'tip $1'")
    .replaceAll('/capture-preauthorization.ts', '/tip-preauthorization.ts');
}

/** The method and its request. */
function withMethod(text: string): string {
  return [
    /^ {2}rpc CapturePreauthorization\(.*\n/m,
    /^message CapturePreauthorizationRequest \{\n[\s\S]*?^\}\n/m,
  ].reduce(repeated, text);
}

/** The import and the line of a table. */
function withLines(text: string): string {
  return [/^import \{ capturePreauthorization \} .*\n/m, /^ +capturePreauthorization,\n/m].reduce(repeated, text);
}

/** The answers that `npm run record` would record. */
export function withAnswers(text: string): string {
  const answers: Record<string, unknown> = JSON.parse(text);
  for (const [name, answer] of Object.entries(answers)) answers[asTip(name)] = answer;
  return JSON.stringify(answers);
}
