/// The page's script. It writes no text of the data anywhere.
enum PageScript {
    /// After 20 minutes a page is older than the daemon lets it become. A reader who has something open or in focus
    /// keeps the page.
    static let text = """
        (() => {
        const written = Date.parse(document.getElementById("written").dateTime), banner = document.getElementById("age");
        const look = () => {
          const minutes = Math.floor((Date.now() - written) / 60000);
          banner.hidden = minutes < 20;
          const age = minutes < 120 ? minutes + " minutes" : minutes < 2880 ? Math.floor(minutes / 60) + " hours"
            : Math.floor(minutes / 1440) + " days";
          if (!banner.hidden) banner.textContent = "This page is " + age + " old. reachd does not write it any more, or not where it is read from.";
        };
        look();
        setInterval(look, 60000);
        setInterval(() => {
          const isRead = document.activeElement !== document.body || String(getSelection()) !== "";
          if (!document.hidden && !isRead) location.reload();
        }, 30000);
        })();

        """
}
