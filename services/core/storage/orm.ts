import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';

/** The key under which a database holds its ORM. Only `storage/` may import this file (`.ci/import-rules.ts`). */
export const ORM: unique symbol = Symbol('orm');

/** A database, for `storage/`. */
export interface OrmHolder {
  readonly [ORM]: MikroORM;
}

/** Returns a new entity manager. */
export function entityManager(database: OrmHolder): SqlEntityManager {
  return database[ORM].em.fork();
}
