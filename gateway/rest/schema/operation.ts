import { z } from 'zod';
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
