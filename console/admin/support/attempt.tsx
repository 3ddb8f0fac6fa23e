import { Badge, Group, Text } from '@mantine/core';
import { type AuditEvent, isFailed, partsOf } from '../audit/event-text.ts';
import { AddAddress } from '../clients/add-address.tsx';
import type { SignInHistoryOfQuery } from '../generated/operations.ts';
import { locale, serverText, t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { AddressCode } from '../ui/breakable.tsx';
import { Browser } from '../ui/browser.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { Section } from '../ui/layout/page.tsx';
import { exactly, Time } from '../ui/time.tsx';
import styles from './attempt.module.css';

export type SignInAttempt = SignInHistoryOfQuery['signInHistory']['attempts'][number];
type Step = SignInAttempt['steps'][number];

const outcomes: Record<SignInAttempt['outcome'], { name: string; tone: string }> = {
  SIGNED_IN: { name: t('Signed in'), tone: 'good' },
  REFUSED: { name: t('Refused'), tone: 'bad' },
  UNFINISHED: { name: t('Not finished'), tone: 'neutral' },
};

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

/** One attempt to sign in: its steps, oldest first, with the reason for each refusal. */
export function Attempt({ attempt }: { attempt: SignInAttempt }) {
  const { name, tone } = outcomes[attempt.outcome];
  return (
    <Section
      title={attempt.client?.name ?? t('No application')}
      lead={
        <>
          <Badge color={tone} mr="xs">
            {name}
          </Badge>
          <Time at={attempt.startedAt} />
        </>
      }
    >
      <ol className={styles.steps}>
        {attempt.steps.map((step) => (
          <StepRow key={step.event.id} step={step} />
        ))}
      </ol>
    </Section>
  );
}

function StepRow({ step: { event, explanation, isOfRequest } }: { step: Step }) {
  const hasFailed = isFailed(event);
  const { count, lastAt } = event.detail ?? {};
  return (
    <li data-failed={hasFailed || undefined}>
      <time dateTime={event.at} title={exactly(event.at)}>
        {clock.format(new Date(event.at))}
      </time>
      <div>
        <div className={styles.sentence}>
          {partsOf(event).map(({ text, isName }, index) => (isName ? <strong key={index}>{text}</strong> : text))}
          {hasFailed && (
            <Badge ml="xs" color="bad">
              {t('Failed')}
            </Badge>
          )}
          {isOfRequest && (
            <Badge ml="xs" color="accent">
              {t('This request')}
            </Badge>
          )}
        </div>
        {explanation && (
          <Text>
            {serverText(explanation.meaning)} <strong>{serverText(explanation.remedy)}</strong>
          </Text>
        )}
        {typeof event.detail?.['redirectUri'] === 'string' && (
          <RefusedAddress event={event} uri={event.detail['redirectUri']} />
        )}
        <div className={styles.origin}>
          {typeof count === 'number' && count > 1 && typeof lastAt === 'string' && (
            <span>{t('Last at {time}', { time: clock.format(new Date(lastAt)) })}</span>
          )}
          {event.ip && <span>{event.ip}</span>}
          {event.userAgent && <Browser userAgent={event.userAgent} />}
          {event.requestId && <IdChip id={event.requestId} label={t('request ID')} />}
        </div>
      </div>
    </li>
  );
}

/** The address of a refused request, and where to register it. */
function RefusedAddress({ event, uri }: { event: AuditEvent; uri: string }) {
  const path = useProjectPath();
  return (
    <>
      <p>
        <AddressCode text={uri} />
      </p>
      <Group gap="sm" align="flex-end">
        <AddAddress event={event} />
        {event.client && (
          <LinkButton size="xs" mt="xs" to={path(`applications/${event.client.id}/settings`)}>
            {t('Settings')}
          </LinkButton>
        )}
      </Group>
    </>
  );
}
