import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Answer, type Result, ThreeDSecure } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { BROWSER, goOn } from './fake/customer.ts';
import { type Fixture, holdRequest, inquiryOf, startFixture } from './fixture.ts';

export const PAGE_ORIGIN = 'https://pay.example.com';
export const RETURN_URL = 'https://shop.example/done?basket=42';
export const HALF_AN_HOUR_MS = 30 * 60_000;

/** An adapter with pages for customers. */
export const startStepUps = () => startFixture({ ADYEN_PAGE_ORIGIN: PAGE_ORIGIN, ADYEN_PAGE_PORT: '0' });

export type Asked = ReturnType<typeof asked>;

/** A hold whose customer can be sent to its issuer. */
export function asked(token = 'stored_challenge', challenge = false) {
  const actionExpiresAt = timestampFromMs(Date.now() + HALF_AN_HOUR_MS);
  const threeDSecure = challenge ? ThreeDSecure.CHALLENGE : ThreeDSecure.UNSPECIFIED;
  return { ...holdRequest(token), customerPresent: true, returnUrl: RETURN_URL, actionExpiresAt, threeDSecure };
}

export const said = (result: Result | undefined) => [Answer[result?.answer ?? 0], result?.errorCode];

/** Plays core and customers of an adapter. */
export function stepUps(fixture: Fixture) {
  const paymentsOf = ({ requestId }: Asked) =>
    fixture.adyen.requests.filter(({ path, body }) => path === '/payments' && body.reference === requestId);
  /** The address as it is reached here. */
  const at = (url: string) => url.replace(PAGE_ORIGIN, `http://127.0.0.1:${fixture.adapter.pagePort}`);
  return {
    at,
    paymentsOf,
    /** Places a hold that waits for its customer; returns its answer and the address of the page. */
    async waiting(hold: Asked) {
      const { result } = await fixture.client.authorize(hold);
      assert.deepEqual(said(result), ['ACCEPTED', '']);
      const url = result?.nextAction?.url ?? '';
      assert(url.startsWith(`${PAGE_ORIGIN}/step-up/${hold.requestId}/`), url);
      return { result, page: at(url) };
    },
    /** Goes on from a page; returns the address of the issuer's. */
    async toIssuer(page: string): Promise<string> {
      const { status, location = '' } = await goOn(page, BROWSER);
      assert.equal(status, 303);
      assert(location.startsWith(`${fixture.adyen.origin}/issuer/`), location);
      return location;
    },
    inquire: (hold: Asked) => fixture.client.inquire(inquiryOf(hold)),
    /** What was reported to core about a hold, oldest first. */
    async told({ requestId }: Asked) {
      await fixture.adapter.reportDue();
      return fixture.core.received.flatMap(({ event }) =>
        event.case === 'operationSettled' && event.value.requestId === requestId ? [event.value.result] : [],
      );
    },
  };
}
