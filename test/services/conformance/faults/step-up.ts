import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { Answer, NextActionSchema, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { type Fault, other, telling, withResult } from './fault.ts';

const ASKED = 'step-up: asked again';
const page = (url: string) => ({ nextAction: create(NextActionSchema, { url }) });

/** Says something else about what waits for its customer, or about how that has ended. */
function inquiring(change: (result: Result) => Partial<Result>): Lie {
  return { inquire: async (request, forward) => withResult(await forward(request), change) };
}

/** Authorizations that wait for their customer, and what is wrong with them. */
export const STEP_UPS: readonly Fault[] = [
  {
    name: 'an authorization that waits for its customer and does not say where',
    checks: [ASKED],
    why: /next_action is absent/,
    lie: () => telling('authorize', () => ({ nextAction: undefined })),
  },
  {
    name: 'a page in clear text',
    checks: [ASKED],
    why: /the url of next_action is https/,
    lie: () => telling('authorize', ({ nextAction }) => (nextAction ? page('http://bank.example/1') : {})),
  },
  {
    name: 'another page for a repeated request',
    checks: [ASKED],
    why: /the answer to a repeated request/,
    lie: () => {
      let count = 0;
      return telling('authorize', ({ nextAction }) => (nextAction ? page(`https://bank.example/${count++}`) : {}));
    },
  },
  {
    name: 'one page for all customers',
    checks: [ASKED],
    why: /the page of another authorization/,
    lie: () => telling('authorize', ({ nextAction }) => (nextAction ? page('https://bank.example/1') : {})),
  },
  {
    name: 'a page that stays open for a year',
    checks: [ASKED],
    why: /it closes when it was asked to/,
    lie: () =>
      telling('authorize', ({ nextAction }) =>
        nextAction ? { nextAction: { ...nextAction, expiresAt: timestampFromMs(Date.now() + 31_536_000_000) } } : {},
      ),
  },
  {
    name: 'an inquiry that does not say where the customer goes',
    checks: [ASKED],
    why: /the result of an inquiry about it/,
    lie: () => inquiring(() => ({ nextAction: undefined })),
  },
  {
    name: 'a void that leaves the page open',
    checks: [ASKED],
    why: /the finding about what waited/,
    eventWithinMs: 500,
    lie: () => ({
      void: async (request, forward) =>
        withResult(await forward({ ...request, authorizationRequestId: other({ requestId: '' }).requestId }), () => ({
          answer: Answer.APPROVED,
          reference: 'made-up',
          errorCode: '',
          errorMessage: '',
        })),
    }),
  },
  {
    name: 'a void that is refused while the customer is asked',
    checks: [ASKED],
    why: /void with the token of its profile/,
    lie: () => telling('void', () => ({ answer: Answer.NOT_PERFORMED, errorCode: 'authorization_not_ended' })),
  },
  {
    name: 'a page that is never over',
    checks: ['step-up: over when'],
    why: /it waits for its customer after its time/,
    eventWithinMs: 3_000,
    lie: () => ({
      authorize: async (request, forward) =>
        withResult(await forward({ ...request, actionExpiresAt: undefined }), ({ nextAction }) =>
          nextAction ? page(nextAction.url) : {},
        ),
    }),
  },
  {
    name: 'another reason for a page that is over',
    checks: ['step-up: over when'],
    why: /how it ended/,
    lie: () => inquiring(({ errorCode }) => (errorCode === '' ? {} : { errorCode: 'gone' })),
  },
  {
    name: 'a customer who is sent to a page without a way back',
    checks: ['step-up: declined where'],
    why: /next_action of an authorization without return_url/,
    lie: () => ({
      authorize: (request, forward) => forward({ ...request, returnUrl: 'https://shop.example/' }),
    }),
  },
  {
    name: 'an authorization that is declined, although the customer has confirmed',
    checks: ['step-up: approved when'],
    why: /how it ended/,
    lie: () =>
      inquiring(({ answer }) => (answer === Answer.APPROVED ? { answer: Answer.DECLINED, errorCode: 'no' } : {})),
  },
  {
    name: 'an authorization that is approved, although the customer has refused',
    checks: ['step-up: declined when'],
    why: /how it ended/,
    lie: () =>
      inquiring(({ answer }) =>
        answer === Answer.DECLINED ? { answer: Answer.APPROVED, reference: 'made-up', errorCode: '' } : {},
      ),
  },
  {
    name: 'a final result that still names the page',
    checks: ['step-up: approved when'],
    why: /next_action of a final result/,
    lie: () => inquiring(({ answer }) => (answer === Answer.APPROVED ? page('https://bank.example/1') : {})),
  },
  {
    name: 'an end of authentication that no event reports',
    checks: ['step-up: declined when'],
    why: /no event operationSettled/,
    eventWithinMs: 500,
    lie: () => ({
      reportEvent: async () => {
        throw Object.assign(new Error('lost'), { code: status.UNAVAILABLE });
      },
    }),
  },
  {
    name: 'an issuer that asks only when it likes',
    checks: ['step-up: any card'],
    why: /the answer while it waits for its customer/,
    lie: () => ({ authorize: (request, forward) => forward({ ...request, threeDSecure: 0 }) }),
  },
];
