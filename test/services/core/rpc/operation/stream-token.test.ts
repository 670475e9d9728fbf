import assert from 'node:assert/strict';
import { RELAYED_TOKENS, readToken, tokenOf } from '../../../../../services/core/rpc/operation/stream-token.ts';
import { openCipher } from '../../../../../services/core/storage/cipher.ts';

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const cipher = openCipher([key('a', 1)]);
const mark = '6c7d8e9f0a1b';
const at = (sequence: bigint) => ({ sequence, mark });

describe('the token of a stream', () => {
  it('says nothing of the position to a merchant, and is the same for the same position', () => {
    const tokens = [1n, 2n, 3n].map((sequence) => tokenOf(at(sequence), 'acme', cipher));
    for (const [index, token] of tokens.entries()) {
      assert.match(token, /^[A-Za-z0-9_-]{1,64}$/);
      assert.deepEqual(readToken(token, 'acme', cipher), { sequence: BigInt(index + 1), mark });
      assert.equal(token, tokenOf(at(BigInt(index + 1)), 'acme', cipher));
    }
    // Of numbers that follow each other, no two tokens agree in a byte of their places but by chance.
    const [one = '', two = ''] = tokens.map((token) => Buffer.from(token, 'base64url').toString('hex', 2));
    const same = Array.from(one).filter((digit, index) => digit === two[index]).length;
    assert(same < one.length / 4, `${same} of ${one.length}`);
    assert.notEqual(tokenOf(at(1n), 'acme', cipher), tokenOf(at(1n), 'bolt', cipher));
  });

  it('is read for its merchant alone, and not when it was changed', () => {
    const token = tokenOf(at(1_042n), 'acme', cipher);
    assert.equal(readToken(token, 'bolt', cipher), undefined);
    assert.equal(readToken(token, undefined, cipher), undefined);
    assert.equal(readToken(token, 'acme', openCipher([key('a', 2)])), undefined);
    const bytes = Buffer.from(token, 'base64url');
    for (const index of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      assert.equal(readToken(changed.toString('base64url'), 'acme', cipher), undefined);
    }
    for (const text of ['', 'nonsense', token.slice(1), `${token}AA`])
      assert.equal(readToken(text, 'acme', cipher), undefined);
  });

  it('is read after the key was replaced, while the old one is kept', () => {
    const token = tokenOf(at(7n), 'acme', cipher);
    assert.deepEqual(readToken(token, 'acme', openCipher([key('b', 2), key('a', 1)])), { sequence: 7n, mark });
  });

  it('of 1.0 is still taken, and streams of all merchants have it', () => {
    const plain = Buffer.from(`o2:1042:${mark}`).toString('base64url');
    assert.equal(tokenOf(at(1_042n), undefined, cipher), plain);
    for (const scope of ['acme', undefined])
      assert.deepEqual(readToken(plain, scope, cipher), { sequence: 1_042n, mark });
    const empty = tokenOf({ sequence: 0n, mark: '' }, 'acme', cipher);
    assert.deepEqual(readToken(empty, 'acme', cipher), { sequence: 0n, mark: '' });
  });

  it('is read for its log alone, also one that is plain', () => {
    for (const scope of ['acme', undefined]) {
      const relayed = tokenOf(at(7n), scope, cipher, RELAYED_TOKENS);
      assert.deepEqual(readToken(relayed, scope, cipher, RELAYED_TOKENS), at(7n));
      assert.equal(readToken(relayed, scope, cipher), undefined);
      assert.equal(readToken(tokenOf(at(7n), scope, cipher), scope, cipher, RELAYED_TOKENS), undefined);
    }
  });
});
