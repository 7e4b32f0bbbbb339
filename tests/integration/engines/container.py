"""Makes a container in an Azure Blob store.

    container.py ENDPOINT ACCOUNT KEY CONTAINER
"""

import base64
import email.utils
import hashlib
import hmac
import sys
import urllib.parse
import urllib.request

endpoint, account, key, container = sys.argv[1:]
date = email.utils.formatdate(usegmt=True)
url = f"{endpoint}/{container}?restype=container"
path = urllib.parse.urlparse(url).path
text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-08-06\n/{account}{path}\nrestype:container"
mac = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256)
signature = base64.b64encode(mac.digest()).decode()
headers = {
    "x-ms-date": date,
    "x-ms-version": "2021-08-06",
    "Content-Length": "0",
    "Authorization": f"SharedKey {account}:{signature}",
}
urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers)).read()
