/** Each process is killed once; `npm run torture -- notifications` kills fifty times. */
import { tortureNotifications } from './notifications.ts';

describe('notifications under torture', function () {
  this.timeout(240_000);

  it('are delivered once they were answered 200, and under one webhook-id', () =>
    tortureNotifications({ seed: Date.now() % 2 ** 31, runs: 3 }));
});
