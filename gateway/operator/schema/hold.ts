import { z } from 'zod';
import * as answers from '../../rest/schema/answer-fields.ts';
import * as fields from '../../rest/schema/fields.ts';
import { Operation } from '../../rest/schema/operation.ts';
import { ListPreauthorizationsQuery } from '../../rest/schema/preauthorization.ts';
import { Capture, ListedHold } from '../../rest/schema/preauthorization-answers.ts';
import { Delivery } from './delivery.ts';
import { merchantId } from './fields.ts';

/** Query of GET /operator/holds. Filters are joined by AND. */
export const ListHoldsQuery = ListPreauthorizationsQuery.extend({
  requestId: fields.requestId.optional(),
  merchantId: merchantId.optional(),
  merchantReference: fields.merchantReference.optional(),
}).meta({ id: 'ListHolds' });

/** Body of POST /operator/holds/{requestId}/capture. */
export const CaptureHoldBody = z
  .strictObject({
    amountToCapture: fields.amount,
    finalCapture: z.boolean().meta({ description: 'Close the hold with this capture' }).optional(),
  })
  .meta({ id: 'CaptureHold', description: 'Charges a hold in full or in part' });

/** A hold without its handle, its checkout and its token. */
const OperatorHold = ListedHold.omit({ checkoutUrl: true, tokenData: true })
  .extend({
    phase: z
      .enum(['AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW'])
      .meta({ description: 'How far placing it has come' }),
    frozen: z.boolean().meta({ description: 'An event contradicted a final state: nothing more is captured' }),
  })
  .meta({ id: 'OperatorHold', description: 'A hold as operators see it: nothing that could capture or pay' });

export const OperatorHoldPage = answers.pageOf(OperatorHold).meta({ id: 'OperatorHoldPage' });

/** Answer of GET /operator/holds/{requestId}. */
export const OperatorHoldStory = OperatorHold.extend({
  captures: z.array(Capture).meta({ description: 'Oldest first' }),
  operations: z.array(Operation).meta({ description: 'What became of it, oldest first; the first is the hold itself' }),
  deliveries: z.array(Delivery).meta({ description: 'Its notifications, oldest first, at most 200; without attempts' }),
}).meta({ id: 'OperatorHoldStory' });

/** Answer of POST /operator/holds/{requestId}/release. */
export const OperatorReleasedHold = OperatorHold.extend({
  releaseRequestId: answers.requestId.meta({ description: 'Names the release' }).optional(),
}).meta({ id: 'OperatorReleasedHold' });
