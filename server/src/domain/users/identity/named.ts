import { type Executing, query, sql } from '../../kernel/sql.ts';
import { addressKeys, domainOfAddress, isAddress } from '../login.ts';

/** A user whom a typed address names. */
interface NamedUser {
  id: string;
  /** The login email on record. */
  email: string | null;
}

/** By login email; by userName at home in the organization of the sign-in, in the project, and in another organization. */
const [byEmail, byOwnName, byProjectName, byOtherName] = [1, 2, 3, 4].map(sql.lit);

/**
 * The user with this login email, else the user with this userName, ignoring case; also an inactive one. A userName is unique at a home
 * only (decisions/0400): first the user at home in the organization of the sign-in, then the one at home in the project, then the one at
 * home in the organization that has verified the domain of the name. Directories choose userNames: by one that is an address outside its
 * verified domains, an organization could take the sign-in or sign-up of that person, also in its own context (decisions/0408).
 *
 * @param address normalized by `addressKey`
 * @param organizationId of the sign-in; null: none
 */
export async function userNamed(
  on: Executing,
  projectId: string,
  address: string,
  organizationId: string | null,
): Promise<NamedUser | null> {
  const keys = addressKeys(address);
  const [user] = await query(
    on,
    // Two index lookups: the plan of an `or` depends on the number of users.
    sql<NamedUser>`
      select id, email from (
        select id, email, ${byEmail} as choice, email_key as key from users
          where project_id = ${projectId} and email_key = any(${keys}::text[])
        union all select id, email, case when organization_id = ${organizationId}::uuid then ${byOwnName}
            when organization_id is null then ${byProjectName} else ${byOtherName} end, user_name_key
          from users u where project_id = ${projectId} and user_name_key = any(${keys}::text[]) and account_id is null
            and (organization_id is null or (organization_id = ${organizationId}::uuid and not ${isAddress(address)}::boolean)
              or exists (select 1 from organization_domains d
                where d.project_id = u.project_id and d.organization_id = u.organization_id and d.state = 'verified'
                  and d.domain = ${domainOfAddress(address)}::text))
      ) as found order by choice, key <> ${address}::text limit 1`,
    { prepare: 'users.named' },
  );
  return user ?? null;
}
