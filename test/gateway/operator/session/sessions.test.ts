import assert from 'node:assert/strict';
import { createSessions, SESSION_SECONDS, sessionHash } from '../../../../gateway/operator/session/sessions.ts';
import { OPERATOR_TOKEN, TOKEN } from '../../fake-core.ts';

describe('createSessions()', () => {
  const ended = new Set<string>();
  let isFresh = true;
  const credentials = { isSessionEnded: (hash: string) => ended.has(hash), isFresh: () => isFresh };
  let nowMs = Date.UTC(2027, 0, 1);
  const open = (token = TOKEN) => createSessions(token, credentials, () => nowMs);
  const sessions = open();

  it('opens what it sealed, as does every gateway with the same token', () => {
    const session = sessions.start(OPERATOR_TOKEN, 'alice');
    assert.equal(Buffer.from(session.id, 'base64url').length, 32);
    const cookie = sessions.seal(session);
    assert(!Buffer.from(cookie, 'base64url').toString('latin1').includes(OPERATOR_TOKEN));
    assert.deepEqual(open().open(cookie), session);
    assert.equal(open().csrfToken(session), sessions.csrfToken(session));
    assert.notEqual(sessions.seal(session), cookie);
  });

  it('rejects everything else', () => {
    const cookie = sessions.seal(sessions.start(OPERATOR_TOKEN, ''));
    const bytes = Buffer.from(cookie, 'base64url');
    for (let index = 0; index < bytes.length; index += 7) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      assert.equal(sessions.open(changed.toString('base64url')), undefined);
    }
    for (const text of ['', 'x', cookie.slice(0, -4), 'A'.repeat(200)]) {
      assert.equal(sessions.open(text), undefined);
    }
    assert.equal(open('another-token-of-all-the-gateways-012').open(cookie), undefined);
  });

  it('rejects sessions that another version sealed with other fields', () => {
    const { operator, ...session } = sessions.start(OPERATOR_TOKEN, 'alice');
    assert.equal(sessions.open(sessions.seal({ ...session, name: operator } as never)), undefined);
  });

  it('opens it for eight hours', () => {
    const session = sessions.start(OPERATOR_TOKEN, '');
    const cookie = sessions.seal(session);
    nowMs += SESSION_SECONDS * 1000 - 1;
    assert(sessions.open(cookie));
    assert(sessions.isLive(session));
    nowMs += 1;
    assert.equal(sessions.open(cookie), undefined);
    assert(!sessions.isLive(session));
  });

  it('rejects sessions that core reports as ended, at every gateway', () => {
    const session = sessions.start(OPERATOR_TOKEN, '');
    const cookie = sessions.seal(session);
    ended.add(sessionHash(session).toString('base64'));
    for (const gateway of [sessions, open()]) {
      assert.equal(gateway.open(cookie), undefined);
      assert(!gateway.isLive(session));
    }
  });

  it('rejects all sessions while ended ones cannot be known', () => {
    const cookie = sessions.seal(sessions.start(OPERATOR_TOKEN, ''));
    isFresh = false;
    assert.throws(() => sessions.open(cookie), { code: 'UNAVAILABLE' });
    assert.equal(sessions.open('x'), undefined);
    isFresh = true;
    assert(sessions.open(cookie));
  });

  it('gives each session a csrfToken of its own', () => {
    const [one, other] = [sessions.start(OPERATOR_TOKEN, ''), sessions.start(OPERATOR_TOKEN, '')];
    assert(sessions.isCsrfToken(one, sessions.csrfToken(one)));
    for (const token of ['', 'x', sessions.csrfToken(other), `${sessions.csrfToken(one)}=`]) {
      assert(!sessions.isCsrfToken(one, token));
    }
  });
});
