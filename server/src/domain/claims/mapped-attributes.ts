import { type Executing, query, sql } from '../kernel/sql.ts';
import type { ClaimMapping } from './claim-settings.entity.ts';
import { namesIn } from './mapping.ts';

/** The attributes from which claims of the project's applications are built, as paths of SCIM (`attributes.ts`). */
export async function mappedAttributes(on: Executing, projectId: string): Promise<Set<string>> {
  const rows = await query(
    on,
    sql<{ mappings: ClaimMapping[] }>`select mappings from claim_settings where project_id = ${projectId}`,
  );
  return new Set(rows.flatMap(({ mappings }) => mappings.flatMap(attributesIn)));
}

function attributesIn(mapping: ClaimMapping): readonly string[] {
  if ('attribute' in mapping) return [mapping.attribute];
  return 'template' in mapping ? namesIn(mapping.template) : [];
}
