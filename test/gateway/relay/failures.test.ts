import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { ReportVerificationFailuresRequest } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { forEachTest } from '../../suite.ts';
import { notification, openStage } from './stage.ts';

describe('createFailures()', () => {
  const stage = forEachTest(() => openStage({ reportEveryMs: 200 }));

  const fail = async (times: number) => {
    const sent = { ...notification(), signature: null };
    const each = (i: number) => stage.send({ ...sent, from: `10.0.${Math.floor(i / 250)}.${i % 250}` });
    for (let i = 0; i < times; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => each(i + j)));
  };

  it('reports to core in batches of 200, each failure once', async () => {
    await fail(350);
    while (stage.core.reports.reduce((sum, { failures }) => sum + failures.length, 0) < 350)
      await stage.core.nextReport();
    const failures = stage.core.reports.flatMap((report) => report.failures);
    assert.equal(new Set(failures.map(({ failureId }) => failureId)).size, 350);
    assert.ok(stage.core.reports.every((report) => report.failures.length <= 200 && report.droppedCount === 0));
  });

  it('drops and counts what exceeds the limit while core is down, and reports the rest when it is back', async () => {
    stage.core.failing = status.UNAVAILABLE;
    await fail(1_050);
    assert.equal(await stage.metric('holdfast_relay_failures_dropped_total'), 50);
    stage.core.failing = undefined;
    const sum = (count: (report: ReportVerificationFailuresRequest) => number) =>
      stage.core.reports.reduce((total, report) => total + count(report), 0);
    while (sum(({ failures }) => failures.length) < 1_000) await stage.core.nextReport();
    assert.equal(
      sum(({ failures }) => failures.length),
      1_000,
    );
    assert.equal(
      sum(({ droppedCount }) => droppedCount),
      50,
    );
  });
});
