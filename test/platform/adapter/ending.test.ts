import assert from 'node:assert/strict';
import { approved, notPerformed } from '../../../platform/adapter/ending.ts';

describe('what a processor says', () => {
  it('is cut to the length of the contract by characters, and loses control characters', () => {
    const { errorCode, errorMessage } = notPerformed(`a\0b${'c'.repeat(64)}`, `\n${'😀'.repeat(501)}`);
    assert.equal(errorCode, `a b${'c'.repeat(61)}`);
    assert.equal(errorMessage, ` ${'😀'.repeat(499)}`);
    const { reference, bankReference } = approved({ reference: 'r'.repeat(65), bankReference: '12\u0085' });
    assert.deepEqual([reference, bankReference], ['r'.repeat(64), '12 ']);
  });
});
