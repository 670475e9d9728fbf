import { startFixture } from './fixture.ts';

describe('an adapter that stops', () => {
  it('leaves the events that a frozen core does not take for later', async () => {
    const fixture = await startFixture();
    fixture.core.answer = 'hang';
    const reported = fixture.core.next();
    // A report is given up after 5 s, and 32 are made at once: these would take longer than a test may.
    await fixture.sql(`INSERT INTO stripe.event (event_id, request_id, message)
      SELECT 'event-' || number, gen_random_uuid(), '' FROM generate_series(1, 1000) AS number`);
    await reported;
    await fixture.adapter.close();
    await fixture.close();
  });
});
