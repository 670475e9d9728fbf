import { z } from 'zod';
import * as answers from './answer-fields.ts';
import * as fields from './fields.ts';

/** Query of GET /operations. Filters are joined by AND. */
export const ListOperationsQuery = z
  .strictObject({
    operation: z.enum(['HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'OCT']).optional(),
    status: z.enum(['OK', 'KO']).optional(),
    holdRequestId: fields.requestId.optional(),
    finalFrom: fields.time.optional(),
    finalTo: fields.time.optional(),
    ...fields.page,
  })
  .meta({ id: 'ListOperations' });

/** An operation with, once final, its result. */
export const Operation = z
  .object({
    requestId: answers.requestId,
    operation: z.enum(['HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'OCT']),
    status: answers.operationStatus,
    statusInfo: z
      .enum(['authorized', 'declined', 'failed', 'captured', 'reversed', 'released', 'expired', 'paid'])
      .meta({ description: "The word of the path of its notification; the result's, so absent until then" })
      .optional(),
    amount: answers.money("The hold's, capture's or OCT's, or what was given back"),
    currency: answers.currency,
    ...answers.parties,
    terminalId: answers.parties.terminalId.optional(),
    userId: answers.parties.userId.optional(),
    holdRequestId: answers.requestId.meta({ description: 'The hold that it belongs to' }).optional(),
    captureRequestId: answers.requestId.meta({ description: 'The capture that a reversal takes back' }).optional(),
    reference: answers.reference.optional(),
    bankReference: answers.bankReference.optional(),
    ...answers.processorFields,
    finalStateDate: answers.time('When it became final').optional(),
  })
  .meta({ id: 'Operation', description: 'One attempt with one final result' });

export const OperationPage = answers.pageOf(Operation).meta({ id: 'OperationPage', description: 'Newest first' });
