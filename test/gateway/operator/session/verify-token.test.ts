import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { status } from '@grpc/grpc-js';
import { Registry } from 'prom-client';
import type { Core } from '../../../../gateway/core/client.ts';
import { Problem } from '../../../../gateway/http/problem.ts';
import { type Limit, type Limiter, limiterKey, openLimits } from '../../../../gateway/limits/limits.ts';
import { openPenalties } from '../../../../gateway/limits/penalties.ts';
import { createVerifyToken, GUESSES } from '../../../../gateway/operator/session/verify-token.ts';
import { OPERATOR_TOKEN, refusal } from '../../fake-core.ts';
import { Stage } from '../../stage.ts';

describe('createVerifyToken()', () => {
  let nowMs = 0;
  let asked = 0;
  let good = OPERATOR_TOKEN;
  let isAway = false;
  const checkOperator = async (_: object, call: { metadata: Record<string, string> }) => {
    asked += 1;
    if (isAway) throw refusal(status.UNAVAILABLE, {});
    if (call.metadata.authorization !== `Bearer ${good}`) throw refusal(status.UNAUTHENTICATED, {});
    return {};
  };
  const log = new Stage().log;
  const verify = createVerifyToken(
    { operators: { checkOperator } } as unknown as Core,
    openLimits({ log, registry: new Registry() }),
    log,
    () => nowMs,
  );
  const codeOf = async (call: Promise<void>) => {
    const error = await call.then(() => undefined).catch((reason: unknown) => reason);
    return error instanceof Problem ? error.code : ((error as { code?: unknown } | undefined)?.code ?? 'OK');
  };

  it('calls core once in ten seconds', async () => {
    for (const at of [0, 9_999, 10_000, 10_001]) {
      nowMs = at;
      assert.equal(await codeOf(verify(OPERATOR_TOKEN, 'a')), 'OK');
    }
    assert.equal(asked, 2);
  });

  it('rejects a token once core does', async () => {
    nowMs += 20_000;
    good = 'z'.repeat(40);
    assert.equal(await codeOf(verify(OPERATOR_TOKEN, 'b')), 'UNAUTHENTICATED');
    assert.equal(await codeOf(verify(good, 'b')), 'OK');
  });

  it('reports that core is down, and counts no failure', async () => {
    isAway = true;
    for (let i = 0; i < 7; i++) assert.equal(await codeOf(verify('y'.repeat(40), 'c')), status.UNAVAILABLE);
    isAway = false;
    assert.equal(await codeOf(verify('y'.repeat(40), 'c')), 'UNAUTHENTICATED');
  });

  it('keeps accepting a known token while core is down', async () => {
    isAway = true;
    nowMs += 3_600_000;
    assert.equal(await codeOf(verify(good, 'b')), 'OK');
    assert.equal(await codeOf(verify(OPERATOR_TOKEN, 'b')), status.UNAVAILABLE, 'core has refused it since');
    isAway = false;
  });

  it('does not call core about a malformed token, and counts it', async () => {
    const before = asked;
    const codes = [];
    for (let i = 0; i < 6; i++) codes.push(await codeOf(verify('short', 'd')));
    assert.deepEqual(codes, [...Array(5).fill('UNAUTHENTICATED'), 'RATE_LIMITED']);
    assert.equal(asked, before);
  });

  it('counts nothing for a session', async () => {
    for (let i = 0; i < 8; i++) assert.equal(await codeOf(verify('w'.repeat(40))), 'UNAUTHENTICATED');
  });
});

describe('createVerifyToken() during a penalty', () => {
  afterEach(() => mock.timers.reset());

  it('checks a well-formed token, and accepts the right one', async () => {
    const { log } = new Stage();
    const tokens: string[] = [];
    const checkOperator = async (_: object, { metadata }: { metadata: Record<string, string> }) => {
      tokens.push(metadata.authorization ?? '');
      if (metadata.authorization !== `Bearer ${OPERATOR_TOKEN}`) throw refusal(status.UNAUTHENTICATED, {});
      return {};
    };
    const core = { operators: { checkOperator } } as unknown as Core;
    const verify = createVerifyToken(core, openLimits({ log, registry: new Registry() }), log);
    for (let i = 0; i < 200; i++) await assert.rejects(verify('short', 'a'));
    assert.deepEqual(tokens, []);
    await assert.rejects(verify('v'.repeat(40), 'a'), { code: 'RATE_LIMITED' });
    await verify(OPERATOR_TOKEN, 'a');
    assert.equal(tokens.length, 2);
  });

  it('asks core about a hundred tokens a second of an address, and always about one that was right before', async () => {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 });
    const { log } = new Stage();
    let asked = 0;
    let nowMs = 0;
    const checkOperator = async (_: object, { metadata }: { metadata: Record<string, string> }) => {
      asked += 1;
      if (metadata.authorization !== `Bearer ${OPERATOR_TOKEN}`) throw refusal(status.UNAUTHENTICATED, {});
    };
    const core = { operators: { checkOperator } } as unknown as Core;
    const verify = createVerifyToken(core, openLimits({ log, registry: new Registry() }), log, () => nowMs);
    await verify(OPERATOR_TOKEN, 'a');
    for (let i = 0; i < 6; i++) await assert.rejects(verify('short', 'a'));
    for (let i = 0; i < 110; i++) await assert.rejects(verify('v'.repeat(40), 'a'));
    assert.equal(asked, 1 + 100);
    nowMs += 10_000;
    await verify(OPERATOR_TOKEN, 'a');
    assert.equal(asked, 1 + 100 + 1);
  });
});

describe('the limit of guesses at the operator token', () => {
  it('doubles the penalty each time, up to an hour', async () => {
    const { log } = new Stage();
    const limits = openLimits({ log, registry: new Registry() });
    const opened = new Map<string, Limiter>();
    const limiter = (limit: Limit) => {
      opened.set(limit.name, limits.limiter(limit));
      return opened.get(limit.name) as Limiter;
    };
    const guesses = openPenalties({ limiter, close: () => undefined }, GUESSES);
    const key = limiterKey('a');
    const waits = [];
    for (let round = 0; round < 8; round++) {
      let problem: Problem | undefined;
      while (problem === undefined) problem = await guesses.fail(key, () => undefined);
      waits.push(problem.details.retryAfterSeconds);
      const checks = await Promise.allSettled(Array.from({ length: 110 }, () => guesses.check(key)));
      assert.equal(checks.filter((check) => check.status === 'fulfilled').length, 100, 'a few per second are checked');
      await opened.get('operator-penalty-tokens')?.delete(key);
      // As when the penalty is over.
      await opened.get('operator-logins')?.delete(key);
      await guesses.check(key);
    }
    assert.deepEqual(waits, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  });
});
