import { z } from 'zod';
import { CAPTURE } from '../../http/problem-codes.ts';
import { Capture, captureOutcome } from '../../resource/capture.ts';
import { KEYED } from '../../resource/idempotency-key.ts';
import * as fields from '../../resource/request-fields.ts';
import { createsOperation, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';
import { namedHold } from './named-hold.ts';
import { demandSignature, SIGNATURE_HEADERS } from './signed-captures/demand-signature.ts';

export const capturePreauthorization = restRoute({
  ...createsOperation(200, 'The capture', Capture.schema, '/operations/{requestId}'),
  path: '/preauthorization/authorization',
  tag: 'Holds',
  summary: 'Capture a hold, in full or in part',
  description:
    'Unless the contract has `allowMultipleCaptures: true`, the first capture closes the hold, also one of a part, ' +
    'and releases what is left. Where it allows several, `finalCapture: true` does. The answer says `finalCapture: ' +
    'true` when it closed the hold. Merchants whose contract says so sign this request (RFC 9421).',
  headers: { ...KEYED, ...SIGNATURE_HEADERS },
  body: z
    .strictObject({
      merchantId: fields.ownMerchantId,
      preauthorizationId: fields.preauthorizationId,
      amountToCapture: fields.amount,
      finalCapture: z
        .boolean()
        .describe('Close the hold with this capture; it does so anyway when the contract allows one')
        .optional(),
    })
    .meta({ id: 'CapturePreauthorization', description: 'Charges a hold in full or in part' }),
  codes: [...CAPTURE, 'SIGNATURE_REQUIRED'],
  checkBytes: demandSignature,
  handler: ({ ctx, core, inFlight, merchantId, body }) => {
    const { amountToCapture, finalCapture = false } = body;
    const request = { ...namedHold(body), amountToCapture, finalCapture, merchantId };
    return inFlight.capture(ctx, body.preauthorizationId, () =>
      writeOperation(ctx, async (name) =>
        captureOutcome(await core.preauthorizations.capturePreauthorization({ ...request, ...name })),
      ),
    );
  },
});
