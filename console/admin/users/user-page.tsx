import { Alert, Badge, Menu } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { part, usePrefetch, useQuery } from '../api.ts';
import { Activity } from '../audit/activity.tsx';
import { useCommand } from '../frame/use-command.ts';
import {
  UserApplications as ApplicationsOf,
  AuditEvents,
  GroupsOfUser,
  RefreshGrants,
  UserAccess,
  type UserAccessQuery,
  type UserAction,
  UserById,
  type UserByIdQuery,
  UserCustomValues,
  UserKeys as UserKeysOf,
  UserPage,
  UserRoles as UserRolesOf,
} from '../generated/operations.ts';
import { GrantList } from '../grants/refresh-grants.tsx';
import { UserConsents } from '../grants/user-consents.tsx';
import { t, withTexts } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Breakable } from '../ui/breakable.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { LazyDialog } from '../ui/feedback/lazy-dialog.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { useDownload } from '../ui/files/use-download.ts';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/layout/menu-button.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { exactly, Time } from '../ui/time.tsx';
import { ChangeUsersDialog } from './change-users.tsx';
import { isUserAction, UserActionItems } from './user-actions.tsx';
import { nameOf, StateBadge } from './user-columns.tsx';
import { UserDevices } from './user-devices.tsx';
import { UserFactors } from './user-factors.tsx';
import { UserPasskeys } from './user-passkeys.tsx';
import { UserSessions } from './user-sessions.tsx';

const sections = () => import('./sections/sections.ts');
const UserAttributes = lazy(async () => ({ default: (await sections()).UserAttributes }));
const UserRecovery = lazy(async () => ({ default: (await sections()).UserRecovery }));
const UserDeletion = lazy(async () => ({ default: (await sections()).UserDeletion }));
const UserGroups = lazy(async () => ({ default: (await sections()).UserGroups }));
const UserRoles = lazy(async () => ({ default: (await sections()).UserRoles }));
const UserInvitation = lazy(async () => ({ default: (await sections()).UserInvitation }));
// Not that of claims/: a module that two pages share would be a script of its own.
const claimsTexts = import.meta.glob<Record<string, string>>('../language/messages/claims/*.json', {
  import: 'default',
});
const UserClaims = lazy(async () => ({
  default: (await withTexts(claimsTexts, () => import('../claims/user-claims.tsx'))).UserClaims,
}));
const UserKeys = lazy(async () => ({ default: (await sections()).UserKeys }));
const UserOrganizations = lazy(async () => ({ default: (await sections()).UserOrganizations }));
const UserApplications = lazy(async () => ({ default: (await sections()).UserApplications }));
const GrantRecovery = lazy(async () => ({ default: (await import('./grant-recovery.tsx')).GrantRecovery }));
const Impersonate = lazy(async () => ({ default: (await import('../support/impersonate.tsx')).Impersonate }));
const EditProfile = lazy(async () => ({ default: (await import('./edit-profile.tsx')).EditProfile }));

type User = NonNullable<UserByIdQuery['user']>;
type Dialog = 'edit' | 'recover' | UserAction;

/** One user: profile, access and activity. */
export function Component() {
  const { userId = '' } = useParams();
  const { id: projectId } = useProject();
  const ofProject = { projectId, userId };
  const eventsOfUser = { projectId, filter: { userId }, first: 10, after: null };
  usePrefetch(UserPage, ofProject, [
    part(UserById, { id: userId }),
    part(UserAccess, { userId }),
    part(UserCustomValues, { id: userId }),
    part(AuditEvents, eventsOfUser),
    part(GroupsOfUser, ofProject),
    part(RefreshGrants, { ...ofProject, clientId: null, after: null }),
    part(UserRolesOf, { userId }),
    part(UserKeysOf, { userId }),
    part(ApplicationsOf, { userId, after: null }),
  ]);
  const { data, failure, reload } = useQuery(UserById, { id: userId });
  const access = useQuery(UserAccess, { userId });
  const events = useQuery(AuditEvents, eventsOfUser);
  const user = data?.user?.id === userId ? data.user : undefined;
  if (!user) return failure ? <LoadError failure={failure} subject={t('user')} retry={reload} /> : <PageSkeleton />;
  const list = events.data?.auditEvents.edges.map(({ node }) => node);
  return (
    <LoadedUser key={user.id} user={user}>
      <Access user={user} found={access.data?.userAccess} />
      <Activity events={list} query={{ user: user.id }} />
    </LoadedUser>
  );
}

/** The head of the page with its actions, the profile, and `children`. */
function LoadedUser({ user, children }: { user: User; children: ReactNode }) {
  const project = useProject();
  const path = useProjectPath();
  const navigate = useNavigate();
  const { mayChange } = useAccess(project.id);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const { download, failure } = useDownload();
  useCommand((command) => {
    if (mayChange && (command === 'edit' || command === 'recover' || isUserAction(command))) setDialog(command);
  });
  const name = nameOf(user);
  const isLocked = user.provenance === 'SCIM' && project.scimAuthoritative;
  const exportData = async () => {
    if (await download(`/admin/export/users/${user.id}`)) toast(t('Download started'));
  };
  return (
    <Page
      title={name}
      back={{ to: path('users'), label: t('Users') }}
      badges={
        <>
          <StateBadge user={user} />
          {user.provenance === 'SCIM' && <Badge color="accent">{t('From the directory')}</Badge>}
          <IdChip id={user.id} label={user.subject == null ? t('user ID (sub)') : t('user ID')} />
        </>
      }
      actions={mayChange && <UserMenu user={user} onExport={() => void exportData()} onOpen={setDialog} />}
    >
      <FormError failure={failure} />
      {!user.active && <DeactivationNotice user={user} />}
      {!user.lastSignInAt && (
        <Suspense>
          <UserInvitation user={user} mayChange={mayChange} />
        </Suspense>
      )}
      <Profile {...{ user, isLocked, mayChange }} onEdit={() => setDialog('edit')} />
      <Suspense>
        <UserAttributes userId={user.id} isLocked={isLocked} mayChange={mayChange} />
      </Suspense>
      {children}
      {(dialog === 'edit' || dialog === 'recover') && (
        <LazyDialog>
          {dialog === 'edit' && <EditProfile user={user} isLocked={isLocked} opened onClose={close} />}
          {dialog === 'recover' && <GrantRecovery user={{ id: user.id, name }} onClose={close} />}
        </LazyDialog>
      )}
      <ChangeUsersDialog
        projectId={project.id}
        users={[{ id: user.id, name: user.userName }]}
        action={dialog && isUserAction(dialog) ? dialog : undefined}
        onClose={close}
        onDone={(done) => done === 'ERASE' && void navigate(path('users'), { replace: true })}
      />
    </Page>
  );
}

interface UserMenuProps {
  user: User;
  onExport(): void;
  onOpen(dialog: Dialog): void;
}

function UserMenu({ user: { active }, onExport, onOpen }: UserMenuProps) {
  return (
    <MenuButton label={t('Actions')}>
      <Menu.Item leftSection={<Icon name="download" size={16} />} onClick={onExport}>
        {t('Export user data')}
      </Menu.Item>
      {active && <Menu.Item onClick={() => onOpen('recover')}>{t('Grant recovery')}</Menu.Item>}
      <Menu.Divider />
      <UserActionItems except={active ? 'ACTIVATE' : 'DEACTIVATE'} onChoose={onOpen} />
    </MenuButton>
  );
}

function DeactivationNotice({ user }: { user: User }) {
  return (
    <Alert color="bad" role="alert" title={t('This user cannot sign in')}>
      {user.provenance === 'SCIM'
        ? t('The directory or an admin deactivated this account.')
        : t('An admin deactivated this account.')}
    </Alert>
  );
}

/** Sign-in methods, roles and sessions of the user. @param found absent while it loads */
function Access({ user, found }: { user: User; found: UserAccessQuery['userAccess'] | undefined }) {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const [showsClaims, setShowsClaims] = useState(false);
  const [isImpersonating, setImpersonating] = useState(false);
  const named = { id: user.id, name: nameOf(user) };
  const usesPasskeys = project.passkeyPolicy !== 'OFF';
  return (
    <>
      {found?.deletion && (
        <Suspense>
          <UserDeletion user={named} deletion={found.deletion} mayChange={mayChange} />
        </Suspense>
      )}
      {found?.recovery && (
        <Suspense>
          <UserRecovery user={named} recovery={found.recovery} mayChange={mayChange} />
        </Suspense>
      )}
      <Suspense>
        <UserGroups user={named} mayChange={mayChange} />
        <UserRoles userId={user.id} mayChange={mayChange} />
        {project.organizationsEnabled && <UserOrganizations userId={user.id} />}
        <UserApplications userId={user.id} />
      </Suspense>
      <Section
        title={t('View as user')}
        lead={t('Sign-in steps and claims at an application.')}
        actions={
          <>
            {!showsClaims && <SecondaryButton onClick={() => setShowsClaims(true)}>{t('Preview')}</SecondaryButton>}
            {found?.mayImpersonate && (
              <SecondaryButton onClick={() => setImpersonating(true)}>{t('Impersonate')}</SecondaryButton>
            )}
          </>
        }
      >
        {showsClaims && (
          <Suspense>
            <UserClaims userId={user.id} />
          </Suspense>
        )}
        {isImpersonating && (
          <LazyDialog>
            <Impersonate user={named} onClose={() => setImpersonating(false)} />
          </LazyDialog>
        )}
      </Section>
      <UserSessions sessions={found?.sessions} count={found?.sessionCount} mayChange={mayChange} />
      <UserConsents user={user.userName} consents={found?.consents} mayChange={mayChange} />
      <GrantList of={{ userId: user.id }} mayChange={mayChange} />
      <Suspense>
        <UserKeys userId={user.id} mayChange={mayChange} />
      </Suspense>
      <UserDevices devices={found?.devices} count={found?.deviceCount} mayChange={mayChange} />
      <UserPasskeys passkeys={found?.passkeys} isOn={usesPasskeys} mayChange={mayChange} />
      <UserFactors
        factors={found?.factors}
        hasPasskey={usesPasskeys && found?.passkeys.some(({ userVerified }) => userVerified) === true}
        recoveryCodesLeft={found?.recoveryCodesLeft ?? 0}
        policy={project.mfaPolicy}
      />
    </>
  );
}

interface ProfileProps {
  user: User;
  /** The directory locks the phone. */
  isLocked: boolean;
  mayChange: boolean;
  onEdit(): void;
}

/** Profile attributes; notes the directory as their source. */
function Profile({ user, isLocked, mayChange, onEdit }: ProfileProps) {
  const fact = (label: ReactNode, value: string | null | undefined) =>
    [label, <Breakable key="value" text={value ?? '–'} />] as const;
  const phone = isLocked ? (
    <>
      {t('Phone')}{' '}
      <span title={t('The directory manages the phone. Change it there.')}>
        <Icon name="lock" size={14} />
      </span>
    </>
  ) : (
    t('Phone')
  );
  return (
    <Section
      title={t('Profile')}
      lead={user.provenance === 'SCIM' && t('The next sync of the directory may overwrite changes.')}
      actions={mayChange && <SecondaryButton onClick={onEdit}>{t('Edit')}</SecondaryButton>}
    >
      <Facts
        facts={[
          fact(t('Name'), user.displayName ?? ([user.givenName, user.familyName].filter(Boolean).join(' ') || null)),
          fact(t('Given name'), user.givenName),
          fact(t('Family name'), user.familyName),
          fact(t('User name'), user.userName),
          fact(t('Email'), user.email),
          fact(phone, user.phone),
          ...(user.subject == null ? [] : [fact(t('Former sub, in all tokens'), user.subject)]),
          fact(t('External ID'), user.externalId),
          fact(t('Language'), user.locale),
          fact(t('Time zone'), user.zoneinfo),
          fact(t('Address'), addressText(user.address)),
          [t('Date of birth'), user.birthdate ?? '–'],
          [t('Last sign-in'), <Time key="at" at={user.lastSignInAt} />],
          [t('Created'), exactly(user.createdAt)],
          [t('Changed'), <Time key="changed" at={user.updatedAt} />],
        ]}
      />
    </Section>
  );
}

/** An address on one line. */
function addressText(address: User['address']): string | undefined {
  if (!address) return undefined;
  const { formatted, streetAddress, postalCode, locality, region, country } = address;
  const city = [postalCode, locality].filter(Boolean).join(' ');
  return [streetAddress, city, region, country].filter(Boolean).join(', ') || formatted || undefined;
}
