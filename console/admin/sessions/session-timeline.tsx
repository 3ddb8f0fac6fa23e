import { t } from '../language/language.ts';
import { formatDuration } from '../ui/forms/duration.tsx';
import styles from './session-timeline.module.css';
import { usesOf } from './uses.ts';

/** Timeline of a session: activity extends it by the idle timeout up to its maximum age. */
export function SessionTimeline({ idleSeconds, maxSeconds }: { idleSeconds: number; maxSeconds: number }) {
  // To scale, with a minimum width so that short idle timeouts stay visible.
  const share = Math.min(1, Math.max(0.08, idleSeconds / maxSeconds));
  const idle = share * 100;
  const lastUse = Math.max(0, 62 - idle / 2);
  const uses = usesOf(idleSeconds / maxSeconds);
  const end = Math.min(100, lastUse + idle);
  const never = idleSeconds >= maxSeconds;
  const text = never
    ? t('A session ends after {max}, used or not.', { max: formatDuration(maxSeconds) })
    : t('A session ends {idle} after its last use, and at the latest after {max}.', {
        idle: formatDuration(idleSeconds),
        max: formatDuration(maxSeconds),
      });
  return (
    <figure className={styles.figure} role="img" aria-label={text}>
      <div className={styles.row} aria-hidden="true">
        <span className={styles.name}>{t('In use')}</span>
        <div className={styles.track}>
          <div className={styles.bar} style={{ width: '100%' }} />
          {uses.map((at) => (
            <i key={at} className={styles.use} style={{ left: `${at}%` }} />
          ))}
          <span className={styles.end}>{t('Ends after {max}', { max: formatDuration(maxSeconds) })}</span>
        </div>
      </div>
      {!never && (
        <div className={styles.row} aria-hidden="true">
          <span className={styles.name}>{t('Unused')}</span>
          <div className={styles.track}>
            <div className={styles.bar} style={{ width: `${lastUse}%` }} />
            <div className={styles.idle} style={{ left: `${lastUse}%`, width: `${end - lastUse}%` }} />
            {uses
              .filter((at) => at < lastUse)
              .map((at) => (
                <i key={at} className={styles.use} style={{ left: `${at}%` }} />
              ))}
            <i className={styles.use} style={{ left: `${lastUse}%` }} />
            <span className={styles.pause} style={{ left: `${lastUse}%` }}>
              {t('Ends after {idle} unused', { idle: formatDuration(idleSeconds) })}
            </span>
          </div>
        </div>
      )}
      <figcaption aria-hidden="true">
        <span>
          <i className={styles.use} /> {t('used')}
        </span>
        <span>{t('sign-in at the left, time to the right')}</span>
      </figcaption>
    </figure>
  );
}
