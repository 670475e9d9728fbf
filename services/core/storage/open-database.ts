import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { parseDatabaseUrl } from '../../../platform/database-url.ts';
import type { OrmDatabase } from './database.ts';
import { ENTITIES } from './entities.ts';
import { type DatabaseSettings, databaseOn, poolOptions } from './open-pool.ts';
import { MIGRATIONS, ORM } from './orm.ts';

/** Opens the pool. Throws when the database cannot be reached within 5 s, or is a standby. */
export async function openDatabase(settings: DatabaseSettings): Promise<OrmDatabase> {
  const orm = await MikroORM.init({
    clientUrl: parseDatabaseUrl(settings.databaseUrl).firstUrl,
    entities: [...ENTITIES],
    extensions: [Migrator],
    pool: { min: 0, max: settings.poolSize },
    // The ORM itself reads only address, name and password of the URL, and would drop its sslmode.
    driverOptions: poolOptions(settings),
    migrations: {
      path: MIGRATIONS,
      tableName: 'migration',
      snapshot: false,
      allOrNothing: true,
      silent: true,
    },
    debug: false,
    // Standard output is for the process's own log; errors are thrown.
    logger: () => undefined,
  });
  const pool = (await (
    orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
  ).getNativeClient()) as Pool;
  return { ...databaseOn(pool), [ORM]: orm, close: () => orm.close(true) };
}
