import { z } from 'zod';
import { ListOperationsQuery } from '../../rest/schema/operation.ts';
import { merchantId } from './fields.ts';

/** Query of GET /operator/operations. Filters are joined by AND. */
export const ListOperatorOperationsQuery = ListOperationsQuery.extend({ merchantId: merchantId.optional() }).meta({
  id: 'ListOperatorOperations',
});

/** Query of GET /operator/operations/stream. */
export const WatchOperatorOperationsQuery = z.strictObject({ merchantId: merchantId.optional() });
