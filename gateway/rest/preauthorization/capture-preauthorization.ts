import { z } from 'zod';
import { CAPTURE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/answer-fields.ts';
import { Capture } from '../../resource/payments.ts';
import { amount, currencyOfHold, ownMerchantId, preauthorizationId, words } from '../../resource/request-fields.ts';
import { answerOperation } from '../../resource/write-operation.ts';
import { restWrite } from '../route.ts';
import { demandSignature, SIGNATURE_HEADERS } from '../signed-operations/demand-signature.ts';
import { namedHold } from './hold.ts';

export const capturePreauthorization = restWrite('Holds', 'POST /preauthorization/authorization', {
  scope: 'capture',
  summary: 'Capture a hold, in full or in part',
  description:
    'Unless the contract has `allowMultipleCaptures: true`, the first capture closes the hold, also one of a part, ' +
    'and releases what is left. Where it allows several, `finalCapture: true` does. The answer says `finalCapture: ' +
    'true` when it closed the hold. Merchants whose contract says so sign this request (RFC 9421).',
  headers: SIGNATURE_HEADERS,
  body: z
    .strictObject({
      merchantId: ownMerchantId,
      preauthorizationId,
      amountToCapture: amount,
      currency: currencyOfHold,
      finalCapture: z
        .boolean()
        .describe('Close the hold with this capture; it does so anyway when the contract allows one')
        .optional(),
      ...words,
    })
    .meta({ id: 'CapturePreauthorization', description: 'Charges a hold in full or in part' }),
  answers: { 200: { description: 'The capture', schema: Capture.schema } },
  codes: [...CAPTURE, 'SIGNATURE_REQUIRED'],
  checkBytes: demandSignature('CAPTURE'),
  handler: async ({ ctx, core, inFlight, merchantId, body, name }) => {
    using _place = inFlight.enterHold(merchantId, body.preauthorizationId);
    const { finalCapture = false, ...asked } = body;
    const request = { ...asked, ...namedHold(body), finalCapture, merchantId, ...name };
    const { capture, replayed } = await core.preauthorizations.capturePreauthorization(request);
    return answerOperation(ctx, answered(capture), replayed, Capture.json);
  },
});
