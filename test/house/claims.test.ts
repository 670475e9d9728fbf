/** Tests or checks back each "every", "never" and "always" of the documents: test/house/claims.ts. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { ROOT } from '../../.ci/sources.ts';
import { CLAIMS, NO_CLAIMS } from './claims.ts';
import { normalise, proseOf, sentencesOf } from './sentences.ts';

const UNIVERSAL = /\b(every|never|always)\b/i;
const DOCUMENTS = [
  'README.md',
  ...['README', 'settings', 'contributing', 'stripe'].map((name) => `docs/${name}.md`),
  ...['product', 'architecture', 'security', 'verify-webhooks', 'grpc', 'signed-captures'].map(
    (name) => `docs/${name}.md`,
  ),
  ...['high-availability', 'processors', 'runbook', 'scaling'].map((name) => `docs/${name}.md`),
];

describe('claims of the documents', () => {
  const texts = new Map<string, string>();

  before(async () => {
    for (const document of DOCUMENTS) texts.set(document, await readFile(ROOT + document, 'utf8'));
  });

  const partsOf = (document: string) => [
    ...new Set([...(CLAIMS[document] ?? []).map(([part]) => part), ...(NO_CLAIMS[document] ?? [])]),
  ];

  it('occur there once each', () => {
    for (const document of [...Object.keys(CLAIMS), ...Object.keys(NO_CLAIMS)]) {
      const prose = normalise(proseOf(texts.get(document) ?? assert.fail(`${document} is not looked at`)));
      for (const part of partsOf(document)) {
        assert.equal(prose.split(part).length - 1, 1, `${document}: "${part}" does not stand there once`);
      }
    }
  });

  it('are backed by tests and checks that exist', async () => {
    for (const [part, path, title] of Object.values(CLAIMS).flat()) {
      const source = await readFile(ROOT + path, 'utf8').catch(() => assert.fail(`"${part}": there is no ${path}`));
      const count = path.startsWith('.ci/')
        ? source.split(`export async function ${title}(`).length + source.split(`export function ${title}(`).length - 2
        : ["'", '"', '`'].reduce((sum, quote) => sum + source.split(`(${quote}${title}${quote}`).length - 1, 0);
      assert.equal(count, 1, `"${part}": ${path} does not have "${title}" once`);
    }
  });

  for (const document of DOCUMENTS) {
    it(`are all listed for ${document}`, () => {
      const parts = partsOf(document);
      const unknown = sentencesOf(texts.get(document) ?? '').filter((sentence) =>
        UNIVERSAL.test(parts.reduce((rest, part) => rest.replace(part, ''), sentence)),
      );
      assert.deepEqual(
        unknown,
        [],
        `${document} says "every", "never" or "always". Name the test that shows it in test/house/claims.ts, weaken the sentence ` +
          'to what is shown, or put it under NO_CLAIMS when it says nothing about what the service does',
      );
    });
  }
});

describe('sentencesOf()', () => {
  it('splits tables into rows, and lists and paragraphs into sentences; omits code', () => {
    const text =
      '# A\nOne is\nhere. **Two.** `x.y` three\n- four\n  goes on\n1. five\n\n```sh\nnever\n```\n| a | b |\n|---|---|\n| c | d. e |\n';
    assert.deepEqual(sentencesOf(text), [
      ...[
        '# A',
        'One is here.',
        '**Two.**',
        '`x.y` three',
        'four goes on',
        'five',
        '| a | b |',
        '|---|---|',
        '| c | d. e |',
      ],
    ]);
  });
});
