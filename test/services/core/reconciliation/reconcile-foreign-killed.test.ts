/** Core or a worker dies at a hold that somebody else has charged, before that is imported. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { HoldStatus, type Preauthorization } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { useMortalStage, why } from '../stage.ts';
import { chargeThere } from './charge-there.ts';
import { decideAt } from './decide.ts';

const HOUR_MS = 3_600_000;
const CHARGED = 6_000;

describe('a process that is killed at a hold that somebody else has charged', () => {
  const { stage, crash } = useMortalStage();
  const shop = forSuite(() => openMerchant(stage, 'acme', { holdPeriod: { seconds: 86_400n } }));
  const soon = () => timestampFromMs(stage.clock.now() + HOUR_MS);

  /** What reaches the points of each kind: called by the merchant, or made by a worker when it is due. */
  const WAYS = {
    capture: { hold: () => shop.hold(), act: (hold: Preauthorization) => shop.capture(hold, 4_000n) },
    release: { hold: () => shop.hold(), act: (hold: Preauthorization) => shop.release(hold) },
    increment: { hold: () => shop.hold(), act: (hold: Preauthorization) => shop.increment(hold, 2_000n) },
    extension: { hold: () => shop.hold(), act: (hold: Preauthorization) => shop.extend(hold) },
    refund: {
      async hold() {
        const hold = await shop.hold();
        await shop.capture(hold, 1_000n);
        return hold;
      },
      async act(hold: Preauthorization) {
        const [capture] = (await shop.get(hold)).captures;
        return shop.refund(capture ?? assert.fail(), 300n);
      },
    },
    'capture by itself': { hold: () => shop.hold({ captureAt: soon() }), act: () => stage.captureDue() },
    'release of what was renewed': {
      async hold() {
        const hold = await shop.hold();
        await shop.renew(hold);
        return hold;
      },
      act: () => stage.releaseRenewed(),
    },
    expiry: { hold: () => shop.hold({ releaseAt: soon() }), act: () => stage.expire() },
  } as const;
  const byWorker = {
    'capture by itself': 'capture',
    'release of what was renewed': 'release',
    expiry: 'expiry',
  } as const;
  const pointsOf = (name: keyof typeof WAYS) => {
    const kind = byWorker[name as keyof typeof byWorker] ?? (name as 'capture');
    return [`${kind} stored`, `${kind} answered`] as const satisfies readonly CrashPoint[];
  };

  const JOBS = ['captureDue', 'releaseRenewed', 'expire', 'inquire'] as const;

  /** Time passes, and workers do what is due. */
  async function goOn(): Promise<void> {
    for (let times = 0; times < 3; times += 1) {
      stage.clock.advance(61_000);
      for (const job of JOBS) await stage[job]();
    }
  }

  /** What may have been charged is not called given back, whoever asks; what the processor gave back may be. */
  async function demandUnknown(hold: Preauthorization): Promise<void> {
    const now = await shop.get(hold);
    const { voided } = stage.oracle.find(hold.requestId) ?? assert.fail();
    assert.equal(now.frozen, true, 'what is left of it is unknown');
    assert(now.amountReleased <= BigInt(voided), `${now.amountReleased} is called given back, not ${voided}`);
    assert(![HoldStatus.RELEASED, HoldStatus.EXPIRED].includes(now.status), HoldStatus[now.status]);
    assert((await givenBack(hold)) <= voided, 'nobody is told that more was given back');
  }

  /** What results say was given back. */
  async function givenBack(hold: Preauthorization): Promise<number> {
    const told = (await shop.results(hold)).filter((result) => /^(released|expired) /.test(result));
    return told.reduce((sum, result) => sum + Number(result.split(' ')[1]), 0);
  }

  /** What somebody charged is imported; the books are the processor's; the books are the processor's. */
  async function importIt(hold: Preauthorization): Promise<void> {
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.equal((await shop.get(hold)).frozen, false);
    stage.clock.advance(2 * 86_400_000);
    await goOn();
    const { captured, voided, incremented, amount } = stage.oracle.find(hold.requestId) ?? assert.fail();
    assert.equal(captured + voided, amount + incremented, 'nothing stays reserved');
    const now = await shop.get(hold);
    const books = [now.amountCaptured, now.amountInFlight, now.amountRemaining, now.amountReleased];
    assert.deepEqual(books.map(Number), [captured, 0, 0, voided]);
    assert(captured >= CHARGED);
    assert((await givenBack(hold)) <= voided, 'nobody is told that more was given back');
    assert.deepEqual(await stage.audit(), []);
  }

  for (const name of Object.keys(WAYS) as (keyof typeof WAYS)[]) {
    for (const point of pointsOf(name)) {
      it(`at '${point}' (${name}), before it is told, calls nothing given back until that is imported`, async () => {
        const hold = await WAYS[name].hold();
        const there = chargeThere(stage, hold, CHARGED, true);
        if (name in byWorker) stage.clock.advance(HOUR_MS);
        crash.at = point;
        await WAYS[name].act(hold).catch(() => undefined);
        assert.equal(crash.at, undefined, 'the point was reached');
        await there.charged();
        await demandUnknown(hold);
        await goOn();
        await demandUnknown(hold);
        await importIt(hold);
      });
    }

    it(`reaches no point (${name}) once it is told`, async () => {
      const hold = await WAYS[name].hold();
      await chargeThere(stage, hold, CHARGED, true).charged();
      if (name in byWorker) stage.clock.advance(HOUR_MS);
      for (const point of pointsOf(name)) {
        crash.at = point;
        if (name in byWorker) await WAYS[name].act(hold);
        else assert.equal(await why(WAYS[name].act(hold) as Promise<unknown>), 'HOLD_FROZEN');
        assert.equal(crash.at, point, 'nothing is sent about it');
      }
      crash.at = undefined;
      await goOn();
      await demandUnknown(hold);
      await importIt(hold);
    });
  }
});
