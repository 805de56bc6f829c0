// What was done or failed just now, at the lower edge of the page.

import { useEffect, useState } from 'preact/hooks'
import { type Notice, close, onNotices } from '../ask/notices.ts'

export function NoticeList() {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  useEffect(() => onNotices(setNotices), [])
  return (
    <div class="notices" role="status">
      {notices.map(({ id, text, isBad }) => (
        <p key={id} class={isBad ? 'notice is-bad' : 'notice'}>
          {text}
          {isBad && (
            <button type="button" class="plain" onClick={() => close(id)}>
              Close
            </button>
          )}
        </p>
      ))}
    </div>
  )
}
