import { z } from 'zod';
import { EXTENSION, INCREMENT, KEYED_WRITE, PROCESSOR, RELEASE_OF_PART } from '../../http/problem-codes.ts';
import * as answers from '../../resource/answer-fields.ts';
import { answerChange, answerIncrement, Increment, RELEASE, release, releaseIn } from '../../resource/payments.ts';
import {
  amount,
  amountToRelease,
  currencyOfHold,
  ownMerchantId,
  preauthorizationId,
  words,
} from '../../resource/request-fields.ts';
import { answerOperation } from '../../resource/write-operation.ts';
import { restWrite } from '../route.ts';
import { demandOneId, EITHER_ID, Hold, namedHold, ONE_ID } from './hold.ts';

const ExtendedHold = Hold.schema
  .extend({ extensionRequestId: answers.requestId.describe('Names the extension') })
  .meta({ id: 'ExtendedHold' });

const ReleasedHold = Hold.schema
  .extend({
    releaseRequestId: answers.requestId.describe('Names the release, also of a checkout that was cancelled').optional(),
    ...RELEASE,
  })
  .meta({ id: 'ReleasedHold' });

export const CHANGE_ROUTES = {
  releasePreauthorization: restWrite('Holds', 'POST /preauthorization/release', {
    scope: 'release',
    summary: 'Give back what remains of a hold, or a part of it, or cancel its checkout',
    description:
      'By its `preauthorizationId` or its `requestId`, one of the two. With `amountToRelease` the hold stays open, ' +
      'unless that is all that remains; NOT_SUPPORTED where the authorization gives no part back. Refused as ' +
      'CAPTURE_IN_FLIGHT while a capture or release of it has no result, and as HOLD_FROZEN until an operator has ' +
      'decided about it.',
    body: z
      .strictObject({ ...EITHER_ID, amountToRelease, currency: currencyOfHold, ...words })
      .superRefine(demandOneId)
      .meta({
        id: 'ReleasePreauthorization',
        description: 'Gives back what remains of a hold, or a part of it, or cancels its checkout',
        ...ONE_ID,
      }),
    answers: { 200: { description: 'The hold right after it', schema: ReleasedHold } },
    codes: RELEASE_OF_PART,
    handler: async ({ ctx, core, inFlight, merchantId, body, name }) => {
      using _place = inFlight.enterHold(merchantId, body.preauthorizationId ?? body.requestId);
      const released = await release(core, { ...body, ...namedHold(body), merchantId, ...name });
      return answerChange(ctx, released, (hold, releaseRequestId) => ({
        ...Hold.json(hold),
        releaseRequestId,
        ...releaseIn(released),
      }));
    },
  }),
  incrementPreauthorization: restWrite('Holds', 'POST /preauthorization/increment', {
    scope: 'hold',
    summary: 'Add to a hold',
    description:
      'What is added can be captured once the increment is OK, not before. While it has no result, the hold can be ' +
      'captured in part, but not closed: refused as CAPTURE_IN_FLIGHT are releases, final captures and a further ' +
      'increment.',
    body: z
      .strictObject({
        merchantId: ownMerchantId,
        preauthorizationId,
        amountToAdd: amount,
        currency: currencyOfHold,
        ...words,
      })
      .meta({ id: 'IncrementPreauthorization', description: 'Adds to a hold' }),
    answers: { 200: { description: 'Added', schema: Increment } },
    codes: INCREMENT,
    handler: async ({ ctx, core, inFlight, merchantId, body, name }) => {
      using _place = inFlight.enterHold(merchantId, body.preauthorizationId);
      const request = { ...body, ...namedHold(body), merchantId, ...name };
      return answerIncrement(ctx, await core.preauthorizations.incrementPreauthorization(request), body.amountToAdd);
    },
  }),
  extendPreauthorization: restWrite('Holds', 'POST /preauthorization/extend', {
    scope: 'hold',
    summary: 'Let a hold end later',
    description:
      "After the contract's hold period from now, or when the processor says, if that is earlier; never earlier than " +
      'before. A hold whose extension has no result at its end does not expire until it has one.',
    body: z
      .strictObject({ merchantId: ownMerchantId, preauthorizationId })
      .meta({ id: 'ExtendPreauthorization', description: 'Lets a hold end later' }),
    answers: { 200: { description: 'The hold with its new `expiresAt`', schema: ExtendedHold } },
    codes: EXTENSION,
    handler: async ({ ctx, core, inFlight, merchantId, body, name }) => {
      using _place = inFlight.enterHold(merchantId, body.preauthorizationId);
      const request = { ...namedHold(body), merchantId, ...name };
      const extension = await core.preauthorizations.extendPreauthorization(request);
      return answerChange(ctx, extension, (hold, extensionRequestId) => ({ ...Hold.json(hold), extensionRequestId }));
    },
  }),
  renewPreauthorization: restWrite('Holds', 'POST /preauthorization/renew', {
    scope: 'hold',
    summary: 'Place a hold again',
    description:
      'With the token, terminal and user of an earlier hold, by its `preauthorizationId` or its `requestId`, for ' +
      'what remained of it: what is left of an open one, what was given back of one that has ended. One that is ' +
      'still open is released after the new one is placed. A hold has one renewal at a time: refused as ' +
      'CAPTURE_IN_FLIGHT while one has no result, as HOLD_RELEASED while one is open.',
    body: z
      .strictObject({ ...EITHER_ID, amount: amount.optional(), currency: currencyOfHold })
      .superRefine(demandOneId)
      .meta({
        id: 'RenewPreauthorization',
        description: 'Asks for a hold like an earlier one, for what remained of it unless `amount` says otherwise',
        ...ONE_ID,
      }),
    answers: { 201: { description: 'The new hold', schema: Hold.schema } },
    codes: [
      ...KEYED_WRITE,
      'PREAUTHORIZATION_NOT_FOUND',
      'HOLD_NOT_PLACED',
      'NOT_SUPPORTED',
      'HOLD_FROZEN',
      'HOLD_CAPTURED',
      'HOLD_RELEASED',
      'CAPTURE_IN_FLIGHT',
      'TOKEN_INVALID',
      ...PROCESSOR,
    ],
    handler: async ({ ctx, core, inFlight, merchantId, body, name }) => {
      using _place = inFlight.enterHold(merchantId, body.preauthorizationId ?? body.requestId);
      const request = { ...body, ...namedHold(body), merchantId, ...name };
      const { preauthorization, state, replayed } = await core.preauthorizations.renewPreauthorization(request);
      const hold = answers.answered(preauthorization);
      return answerOperation(ctx, { requestId: hold.requestId, state }, replayed, () => Hold.json(hold));
    },
  }),
} as const;
