import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { openLimits } from '../../../../gateway/limits.ts';
import { createSessions, SESSION_SECONDS } from '../../../../gateway/operator/session/sessions.ts';
import { OPERATOR_TOKEN, TOKEN } from '../../fake-core.ts';
import { Stage } from '../../stage.ts';

describe('createSessions()', () => {
  const limits = openLimits({ log: new Stage().log, registry: new Registry() });
  let nowMs = Date.UTC(2027, 0, 1);
  const open = (token = TOKEN) => createSessions(token, limits, () => nowMs);
  const sessions = open();

  it('seals what it opens, and so does every gateway with the same token', async () => {
    const session = sessions.start(OPERATOR_TOKEN, 'alice');
    assert.equal(Buffer.from(session.id, 'base64url').length, 32);
    const cookie = sessions.seal(session);
    assert(!Buffer.from(cookie, 'base64url').toString('latin1').includes(OPERATOR_TOKEN));
    assert.deepEqual(await open().open(cookie), session);
    assert.equal(open().csrfToken(session), sessions.csrfToken(session));
    assert.notEqual(sessions.seal(session), cookie);
  });

  it('opens nothing else', async () => {
    const cookie = sessions.seal(sessions.start(OPERATOR_TOKEN, ''));
    const bytes = Buffer.from(cookie, 'base64url');
    for (let index = 0; index < bytes.length; index += 7) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      assert.equal(await sessions.open(changed.toString('base64url')), undefined);
    }
    for (const text of ['', 'x', cookie.slice(0, -4), 'A'.repeat(200)]) {
      assert.equal(await sessions.open(text), undefined);
    }
    assert.equal(await open('another-token-of-all-the-gateways-012').open(cookie), undefined);
  });

  it('opens none that another version sealed with other fields', async () => {
    const { operator, ...session } = sessions.start(OPERATOR_TOKEN, 'alice');
    assert.equal(await sessions.open(sessions.seal({ ...session, name: operator } as never)), undefined);
  });

  it('opens it for eight hours', async () => {
    const session = sessions.start(OPERATOR_TOKEN, '');
    const cookie = sessions.seal(session);
    nowMs += SESSION_SECONDS * 1000 - 1;
    assert(await sessions.open(cookie));
    assert(sessions.isLive(session));
    nowMs += 1;
    assert.equal(await sessions.open(cookie), undefined);
    assert(!sessions.isLive(session));
  });

  it('ends it at every gateway that keeps its limits at the same place', async () => {
    const session = sessions.start(OPERATOR_TOKEN, '');
    const cookie = sessions.seal(session);
    await sessions.end(session);
    assert.equal(await sessions.open(cookie), undefined);
    assert(!sessions.isLive(session));
  });

  it('has a csrfToken of its own for each session', () => {
    const [one, other] = [sessions.start(OPERATOR_TOKEN, ''), sessions.start(OPERATOR_TOKEN, '')];
    assert(sessions.isCsrfToken(one, sessions.csrfToken(one)));
    for (const token of ['', 'x', sessions.csrfToken(other), `${sessions.csrfToken(one)}=`]) {
      assert(!sessions.isCsrfToken(one, token));
    }
  });
});
