import assert from 'node:assert/strict';
import fc from 'fast-check';
import { syntaxErrorAt } from '../../../gateway/http/json-syntax.ts';

/** A text, and the line and column of its syntax error. */
const FAULTS: [text: string, line: number, column: number][] = [
  ['', 1, 1],
  ['{', 1, 2],
  ['{"a"}', 1, 5],
  ['{"a":}', 1, 6],
  ['{"a":1,}', 1, 8],
  ['{a:1}', 1, 2],
  ['{"a":1}}', 1, 8],
  ['{"a":[1,2}', 1, 10],
  ['{"a":01}', 1, 7],
  ['{"a":1.}', 1, 7],
  ['{"a":"\\x"}', 1, 7],
  ['{"a":"b\n"}', 1, 8],
  ['{\n  "a": tru\n}', 2, 8],
  ['{"a":NaN}', 1, 6],
];

describe('syntaxErrorAt()', () => {
  for (const [text, line, column] of FAULTS) {
    it(`finds the error of ${JSON.stringify(text)} in line ${line}, column ${column}`, () => {
      assert.throws(() => JSON.parse(text));
      assert.deepEqual(syntaxErrorAt(text), { line, column });
    });
  }

  it('reads any valid JSON to its end, and stops at or before a character that makes it invalid', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, place) => {
        assert.deepEqual(syntaxErrorAt(text), { line: 1, column: text.length + 1 });
        const at = place % (text.length + 1);
        const { line, column } = syntaxErrorAt(`${text.slice(0, at)}\u0001${text.slice(at)}`);
        assert.equal(line, 1);
        assert(column <= at + 1);
      }),
    );
  });
});
